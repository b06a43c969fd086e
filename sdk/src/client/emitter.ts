/** Listeners by name. One that throws keeps no other from hearing, and its error is not lost. */
export interface Emitter<Events> {
  on<Name extends keyof Events>(name: Name, listener: (payload: Events[Name]) => void): () => void
  emit(name: string, payload: object): void
}

export function createEmitter<Events>(): Emitter<Events> {
  const listeners = new Map<unknown, Set<{ run(payload: never): void }>>()
  return {
    on(name, listener) {
      const own = { run: listener }
      const all = listeners.get(name) ?? new Set()
      listeners.set(name, all)
      all.add(own)
      return () => {
        all.delete(own)
        if (all.size === 0 && listeners.get(name) === all) listeners.delete(name)
      }
    },
    emit(name, payload) {
      for (const { run } of [...(listeners.get(name) ?? [])]) {
        try {
          run(payload as never)
        } catch (error) {
          // As an error of the app, not of the connection.
          void Promise.reject(error)
        }
      }
    },
  }
}
