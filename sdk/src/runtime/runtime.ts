/**
 * Everything that is asked of the place where the SDK runs: browsers, Node, React Native. No other file touches a global, so
 * whoever runs it elsewhere, or tests it, passes a runtime of their own.
 */
export interface Runtime {
  fetch: typeof fetch
  /** Runs something later; answers how to call it off. */
  after(milliseconds: number, run: () => void): () => void
  /** At least 0, less than 1. */
  random(): number
  /** Another one each time, on whatever machine. */
  randomId(): string
  abortController(): AbortController
  form(): FormData
}

/** The globals are looked up when they are used: making a client does nothing, also where there are none. */
export const usualRuntime: Runtime = {
  fetch: (input, init) => fetch(input, init),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds)
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
  randomId,
  abortController: () => new AbortController(),
  form: () => new FormData(),
}

/** `crypto.randomUUID` is kept from pages that came over plain HTTP; random bytes are not. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
