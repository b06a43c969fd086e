import type { Runtime } from '../runtime/runtime.ts'

const restMs = 60_000
const restingMax = 20

/** Lets go of a list when nobody has looked at it for a while: most who leave one come back to it. */
export interface Resting {
  begin(): void
  callOff(): void
}

/** Answers how to let a list rest. Of a client's lists 20 do at a time: the one that rests longest makes room. */
export function createRestingPlace(runtime: Runtime): (drop: () => void) => Resting {
  const resting = new Set<() => void>()
  return (drop) => {
    let callOffTimer = () => {}

    function callOff(): void {
      callOffTimer()
      resting.delete(end)
    }

    function end(): void {
      callOff()
      drop()
    }

    return {
      begin() {
        callOff()
        resting.add(end)
        callOffTimer = runtime.after(restMs, end)
        const [longest] = resting
        if (longest && resting.size > restingMax) longest()
      },
      callOff,
    }
  }
}
