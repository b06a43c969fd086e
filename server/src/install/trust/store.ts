import type { CommandEnd } from './machine.ts'

/** Somewhere that programs look up whom they trust. */
export interface TrustStore {
  name: string
  /** Undefined where that cannot be found out. */
  has(): boolean | undefined
  /** Answers what went wrong, if anything did; the store is then as it was. */
  add(): string | undefined
  remove(): string | undefined
  /** Why this process cannot change it; a person has to. */
  obstacle: string | undefined
  byHand: { add: string[]; remove: string[] }
}

/** What a command left to be said, if it did not succeed. */
export function complaintOf(command: string, { state, output }: CommandEnd): string | undefined {
  if (state === 'done') return undefined
  return state === 'missing' ? `there is no command ${command}` : `${command} failed: ${output || 'it did not say why'}`
}

/** A word as a shell takes it. */
export function quoted(word: string): string {
  return /^[\w./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
