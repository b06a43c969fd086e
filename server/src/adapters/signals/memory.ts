import type { Signals } from '../../kit/ports.ts'
import { signalListeners } from './listeners.ts'

/** Signals of this process, which is the only node. */
export function memorySignals(): Signals {
  const { hear, tell } = signalListeners()
  return {
    send: (topic, signal) => tell(topic, signal, true),
    hear,
    close: async () => {},
  }
}
