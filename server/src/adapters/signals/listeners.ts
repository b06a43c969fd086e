import type { SignalListener, Signals } from '../../kit/ports.ts'

/** Those who hear a topic on this node. */
export interface SignalListeners extends Pick<Signals, 'hear'> {
  tell(topic: string, signal: unknown, isOwn: boolean): void
}

export function signalListeners(): SignalListeners {
  const byTopic = new Map<string, Set<SignalListener>>()
  return {
    hear(topic, listener) {
      const listeners = byTopic.get(topic) ?? new Set()
      byTopic.set(topic, listeners.add(listener))
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0 && byTopic.get(topic) === listeners) byTopic.delete(topic)
      }
    },
    tell(topic, signal, isOwn) {
      for (const listener of byTopic.get(topic) ?? []) listener(signal, isOwn)
    },
  }
}
