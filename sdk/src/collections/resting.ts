import type { Runtime } from '../runtime/runtime.ts'

const restMs = 60_000

/** Lets go of a list when nobody has looked at it for a while: most who leave one come back to it. */
export interface Resting {
  begin(): void
  callOff(): void
}

export function createResting(runtime: Runtime, drop: () => void): Resting {
  let callOff = () => {}
  return {
    begin() {
      callOff = runtime.after(restMs, drop)
    },
    callOff: () => callOff(),
  }
}
