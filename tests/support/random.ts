/** Numbers that look random and come again from the same seed, so that a failure can be repeated. */
export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number
  /** A whole number from `min` to `max`, both included. */
  whole(min: number, max: number): number
  /** True with this probability. */
  chance(probability: number): boolean
  pick<T>(choices: readonly T[]): T
}

/** The seed to use: the one in the variable, or a new one. */
export function seedFrom(variable: string): number {
  const given = Number(process.env[variable])
  return Number.isSafeInteger(given) && given > 0 ? given : 1 + Math.floor(Math.random() * 0x7fffffff)
}

/** A xorshift generator; its state must never be zero. */
export function randomFrom(seed: number): Random {
  let state = seed | 0 || 1
  function next(): number {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 0x1_0000_0000
  }
  const whole = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    next,
    whole,
    chance: (probability) => next() < probability,
    pick<T>(choices: readonly T[]): T {
      return choices[whole(0, choices.length - 1)] as T
    },
  }
}
