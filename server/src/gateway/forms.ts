import type { Veil } from '../kit/channel.ts'
import { encode } from './encode.ts'

/** A frame as it goes over the wire, in the forms in which it is sent: to most, and to those who may not see all it tells of. */
export interface Forms {
  /** Made once for all to whom the same is kept back. */
  under(veil: Veil | undefined): Buffer
  /** Keeps no more than what most are sent. */
  settle(): void
}

// Whom a frame tells of are few, and many may see the same of them. What is shown in other ways is made again.
const veiledMax = 4

export function formsOf(make: () => object): Forms {
  let whole: Buffer | undefined
  let frame: object | undefined
  const veiled = new Map<string, Buffer>()

  function underVeil(veil: Veil): Buffer | undefined {
    frame ??= make()
    const hidden = veil.hidden(frame)
    if (hidden.length === 0) return undefined
    // No UID has a space.
    const key = hidden.toSorted().join(' ')
    const known = veiled.get(key) ?? encode(veil.without(frame, hidden))
    if (veiled.size >= veiledMax) veiled.clear()
    veiled.set(key, known)
    return known
  }

  return {
    under(veil) {
      const shown = veil && underVeil(veil)
      if (shown) return shown
      whole ??= encode(frame ?? make())
      return whole
    },
    settle() {
      frame = undefined
      veiled.clear()
    },
  }
}
