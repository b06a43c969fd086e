/**
 * The database cannot be used at the moment: it is away, or lets nobody in, or takes no more writes. Nothing was changed,
 * unless it is in doubt: then a commit was sent and never answered, and what it held is there wholly or not at all.
 */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
  readonly inDoubt: boolean

  constructor(cause: unknown, inDoubt = false) {
    super(`The database cannot be used: ${reasonOf(cause)}`, { cause })
    this.inDoubt = inDoubt
  }
}

/** What went wrong, in the words of whoever noticed. */
export function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  // A host with several addresses fails once for each, without a sentence of its own.
  const all = cause instanceof AggregateError ? cause.errors.map(reasonOf) : [cause.message]
  return all.join('; ')
}

/** The code that a database or the system gave to an error; empty, if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

// An episode is over when nothing has gone wrong for so long.
const quietMilliseconds = 5_000

/** Hears when trouble with the database begins and when it is over; once for each episode, however many meet it. */
export interface TroubleListener {
  begins(reason: string): void
  isOver(seconds: number): void
}

/** For those who need not be told. */
export const untold: TroubleListener = { begins() {}, isOver() {} }

export interface TroubleWatch {
  /** Trouble that lasts, such as a full disk, is remembered until it has not been met for some seconds. */
  met(cause: unknown, lasts?: boolean): void
  /** Something went well. */
  passed(): void
  lasting(): unknown
}

export function watchTrouble(listener: TroubleListener): TroubleWatch {
  let beganAt: number | undefined
  let lastAt = 0
  let lasting: { cause: unknown; at: number } | undefined
  return {
    met(cause, lasts = false) {
      lastAt = performance.now()
      if (lasts) lasting = { cause, at: lastAt }
      if (beganAt !== undefined) return
      beganAt = lastAt
      listener.begins(reasonOf(cause))
    },
    passed() {
      if (beganAt === undefined || performance.now() - lastAt < quietMilliseconds) return
      listener.isOver(Math.round((performance.now() - beganAt) / 1000))
      beganAt = undefined
    },
    lasting: () => (lasting && performance.now() - lasting.at < quietMilliseconds ? lasting.cause : undefined),
  }
}
