import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { parseIntoClientConfig } from 'pg-connection-string'
import type { RunStatement, StatementOutcome } from './connection.ts'
import { codeOf, DatabaseUnavailable, type TroubleWatch } from './unavailable.ts'

/**
 * Connections to PostgreSQL, and what holds when one is lost: every later statement of its transaction is refused, none
 * runs on another connection or without its BEGIN, and the pool drops it. A transaction that was not told to commit is
 * run again. One that was is not, because nobody knows whether it happened.
 */

export interface PoolOptions {
  /** What the database shows as the name of whoever is connected. */
  name: string
  connectionsMax: number
  /** The database ends a statement that takes longer. */
  statementMilliseconds: number
  trouble: TroubleWatch
}

export type WorkInTransaction<T> = (run: RunStatement) => Promise<T>

export interface Pool {
  /** Runs a statement that changes nothing; once more, if its connection is lost. */
  read: RunStatement
  /** Runs `work` in a transaction, and again where nothing can have come of it. */
  write<T>(work: WorkInTransaction<T>): Promise<T>
  /** The same, without a limit to what a statement may take. */
  writeAtLeisure<T>(work: WorkInTransaction<T>): Promise<T>
  /** Runs `work` on one unchanging view of everything; once only, as it may have told others what it saw. */
  snapshot<T>(work: WorkInTransaction<T>): Promise<T>
  close(): Promise<void>
}

/** Begins a statement that gets no name: one that has a name is planned a few times, then for all values at once. */
export const planEachTime = '/* planned each time */ '

// As long as somebody at the other end of a request would wait.
export const connectMilliseconds = 5_000
const patienceMilliseconds = 3_000
// What takes the database no time at all.
const promptMilliseconds = 5_000
// A statement that the database should have ended, and did not, is given up a little later.
const graceMilliseconds = 5_000
const noLimitMilliseconds = 2 ** 31 - 1
const aliveMilliseconds = 10_000
const idleMilliseconds = 300_000
const lifetimeSeconds = 3_600
const renewMilliseconds = 1_000
const lostPauseMilliseconds = 50
const conflictPauseMilliseconds = 5
const readsMax = 2
const writesMax = 6

// Statement texts come from code, not from callers, so this is reached only by lists of varying length.
const namesMax = 1_000

/** How to reach the database, and what all connections to it have in common. */
export function clientConfig(url: string, name: string): pg.ClientConfig {
  const address = new URL(url)
  // `sslmode` then means what it means to the tools of PostgreSQL.
  address.searchParams.set('uselibpqcompat', 'true')
  return {
    // Read once: a file that it names and that is gone later would be missed in the middle of the pool's work.
    ...parseIntoClientConfig(address.href),
    fallback_application_name: name,
    connectionTimeoutMillis: connectMilliseconds,
    // A server that vanished without a word is noticed within twice this time.
    keepAlive: true,
    keepAliveInitialDelayMillis: aliveMilliseconds,
    // Statements of one transaction that do not wait for each other are sent without waiting either.
    pipeline: true,
    types: { getTypeParser },
  }
}

const bigintOid = 20
const numericOid = 1700

// Counts, sums and seconds stay far below 2^53, so they are plain numbers everywhere.
const getTypeParser = ((oid: number, format?: 'text') =>
  oid === bigintOid || oid === numericOid
    ? Number
    : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser

/** A connection that notes what ended it. An error of a connection that nobody listens to would end the process. */
export class PostgresSession extends pg.Client {
  lost: Error | undefined

  constructor(config?: pg.ClientConfig) {
    super(config)
    this.on('error', (error) => {
      this.lost ??= error
    })
  }
}

interface PooledSession extends PostgresSession {
  release(destroy?: boolean): void
}

/** What the pool knows of a connection: the statements that it has names for there, and when it was made. */
interface Acquaintance {
  names: Map<string, string>
  generation: number
}

type Question = pg.QueryConfig & { query_timeout?: number }

interface Manner {
  begin: string
  limitMilliseconds: number
  end(session: PostgresSession): Promise<unknown>
}

export function openPool(url: string, { name, connectionsMax, statementMilliseconds, trouble }: PoolOptions): Pool {
  const limitMilliseconds = statementMilliseconds + graceMilliseconds
  const pool = new pg.Pool({
    ...clientConfig(url, name),
    max: connectionsMax,
    idleTimeoutMillis: idleMilliseconds,
    maxLifetimeSeconds: lifetimeSeconds,
    Client: PostgresSession as never,
  })
  // A connection that ends while nobody uses it is replaced when somebody does.
  pool.on('error', () => {})

  const acquainted = new WeakMap<PostgresSession, Acquaintance>()
  let generation = 0
  let renewedAt = Number.NEGATIVE_INFINITY

  /** From now on all connections are new ones. */
  function renew({ generation: ofSession }: Acquaintance): void {
    const now = performance.now()
    if (ofSession !== generation || now - renewedAt < renewMilliseconds) return
    generation += 1
    renewedAt = now
  }

  async function ask(session: PostgresSession, question: Question): Promise<pg.QueryResult> {
    if (session.lost) throw new DatabaseUnavailable(session.lost)
    try {
      return await session.query(question)
    } catch (error) {
      if (isSilence(error) || isFarewell(error)) session.lost ??= error as Error
      throw judged(session, error)
    }
  }

  function judged(session: PostgresSession, error: unknown): unknown {
    const acquaintance = acquainted.get(session)
    if (acquaintance && leavesConnectionsUseless(error)) renew(acquaintance)
    const cause = session.lost ?? error
    if (!session.lost && !refusesService(error)) return error
    trouble.met(cause, isWorn(codeOf(cause)))
    return new DatabaseUnavailable(cause)
  }

  async function take(): Promise<PooledSession> {
    for (;;) {
      const session = await connected()
      const known = acquainted.get(session) ?? (await becomeAcquainted(session))
      if (known.generation === generation) return session
      session.release(true)
    }
  }

  async function connected(): Promise<PooledSession> {
    if (pool.ending) throw new Error('The database is closed.')
    try {
      return (await pool.connect()) as unknown as PooledSession
    } catch (error) {
      const cause = isWaitInVain(error) ? new Error(`all ${connectionsMax} connections are in use`) : error
      trouble.met(cause)
      throw new DatabaseUnavailable(cause)
    }
  }

  async function becomeAcquainted(session: PooledSession): Promise<Acquaintance> {
    const acquaintance = { names: new Map(), generation }
    try {
      await ask(session, { text: settingsFor(statementMilliseconds), query_timeout: promptMilliseconds })
    } catch (error) {
      session.release(true)
      throw error
    }
    acquainted.set(session, acquaintance)
    return acquaintance
  }

  function giveBack(session: PooledSession): void {
    const { names, generation: ofSession } = acquainted.get(session) as Acquaintance
    if (!session.lost) trouble.passed()
    const isReady = !session.lost && session.getTransactionStatus() === 'I'
    session.release(!isReady || names.size >= namesMax || ofSession !== generation)
  }

  async function run(
    session: PostgresSession,
    text: string,
    parameters: readonly unknown[],
    milliseconds: number,
  ): Promise<StatementOutcome> {
    const { names } = acquainted.get(session) as Acquaintance
    const name = nameFor(names, text)
    const { rows, rowCount } = await ask(session, {
      ...(name !== undefined && { name }),
      text,
      values: parameters as unknown[],
      query_timeout: milliseconds,
    })
    return { rows, changes: rowCount ?? 0 }
  }

  async function readOnce(text: string, parameters: readonly unknown[]): Promise<StatementOutcome> {
    const session = await take()
    try {
      return await run(session, text, parameters, limitMilliseconds)
    } finally {
      giveBack(session)
    }
  }

  async function inTransaction<T>(manner: Manner, work: WorkInTransaction<T>): Promise<T> {
    const session = await take()
    let isOver = false
    try {
      await ask(session, { text: manner.begin, query_timeout: promptMilliseconds })
      const value = await work(async (text, parameters) => {
        if (isOver) throw new Error('This transaction is over; nothing runs in it any more.')
        return run(session, text, parameters, manner.limitMilliseconds)
      })
      isOver = true
      await manner.end(session)
      return value
    } catch (error) {
      isOver = true
      await rollsBack(session)
      throw error
    } finally {
      giveBack(session)
    }
  }

  async function commit(session: PostgresSession): Promise<void> {
    if (session.lost) throw new DatabaseUnavailable(session.lost)
    try {
      const { command } = await session.query({ text: 'COMMIT', query_timeout: limitMilliseconds } as Question)
      if (command !== 'COMMIT') throw new Error('A statement had failed, so there was nothing to commit.')
    } catch (error) {
      // Whoever still answers has refused to commit; whoever does not may have done it.
      if (await rollsBack(session)) throw judged(session, error)
      trouble.met(error)
      throw new DatabaseUnavailable(error, true)
    }
  }

  const usual: Manner = { begin: 'BEGIN', limitMilliseconds, end: commit }
  const atLeisure: Manner = {
    begin: 'BEGIN; SET LOCAL statement_timeout = 0',
    limitMilliseconds: noLimitMilliseconds,
    end: commit,
  }
  const unchanging: Manner = {
    begin: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
    limitMilliseconds,
    // There is nothing to commit, and so nothing that could be in doubt.
    end: rollsBack,
  }

  return {
    read: (text, parameters) => repeated(readsMax, () => readOnce(text, parameters)),
    write: (work) => repeated(writesMax, () => inTransaction(usual, work)),
    writeAtLeisure: (work) => repeated(writesMax, () => inTransaction(atLeisure, work)),
    snapshot: (work) => inTransaction(unchanging, work),
    close: () => pool.end(),
  }
}

/** Sent when connected, not while connecting: poolers in front of a database do not pass on what they do not know. */
function settingsFor(statementMilliseconds: number): string {
  return [
    // A statement or a transaction that hangs must not hold up everyone else for good.
    `SET statement_timeout = ${statementMilliseconds}`,
    `SET idle_in_transaction_session_timeout = ${statementMilliseconds}`,
    // Every statement has its index. A table that has just grown must not be read whole because statistics lag behind,
    // nor a plan be compiled because the function for grams is declared expensive.
    'SET enable_seqscan = off',
    'SET jit = off',
    // One statement takes one process of the database: whoever asks for much must not get several for it.
    'SET max_parallel_workers_per_gather = 0',
  ].join('; ')
}

/** The name under which the database keeps a statement for this connection, so that it is parsed and planned once. */
function nameFor(names: Map<string, string>, text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined) return known
  if (names.size >= namesMax || text.startsWith(planEachTime)) return undefined
  const name = `s${names.size}`
  names.set(text, name)
  return name
}

async function rollsBack(session: PostgresSession): Promise<boolean> {
  if (session.lost) return false
  try {
    await session.query({ text: 'ROLLBACK', query_timeout: promptMilliseconds } as Question)
    return true
  } catch (error) {
    session.lost ??= error as Error
    return false
  }
}

/** Runs again what failed without leaving anything, as long as there is a chance and somebody may be waiting. */
async function repeated<T>(attemptsMax: number, attempt: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + patienceMilliseconds
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt()
    } catch (error) {
      const milliseconds = pauseAfter(error, attempts)
      const isHopeless = error instanceof DatabaseUnavailable && performance.now() + milliseconds > deadline
      const isOver = attempts >= attemptsMax || isHopeless
      // Whoever always meets others may come back when these are gone.
      if (isOver && isConflict(error)) throw new DatabaseUnavailable(error)
      if (isOver || !(mayPass(error) || isConflict(error))) throw error
      await pause(milliseconds)
    }
  }
}

/** Those who met must not meet again. */
function pauseAfter(error: unknown, attempts: number): number {
  const first = error instanceof DatabaseUnavailable ? lostPauseMilliseconds : conflictPauseMilliseconds
  return Math.random() * first * 2 ** attempts
}

const serializationFailure = '40001'
const deadlockDetected = '40P01'
const readOnlyTransaction = '25006'

function isConflict(error: unknown): boolean {
  const code = codeOf(error)
  return code === serializationFailure || code === deadlockDetected
}

function mayPass(error: unknown): boolean {
  if (!(error instanceof DatabaseUnavailable)) return isOutdated(error)
  return !error.inDoubt && !isWorn(codeOf(error.cause))
}

/** Out of disk or memory, or broken: that takes longer than a request waits. */
const isWorn = (code: string) => /^(53[12]|58)/.test(code)

/** Shutting down or starting up, out of something, or no longer the one that takes writes. */
function refusesService(error: unknown): boolean {
  return /^(08|53|57P|58|25006|25P0[34])/.test(codeOf(error))
}

/** The last word on a connection, which its end follows: until that is noticed it must not be given to the next. */
function isFarewell(error: unknown): boolean {
  return /^(57P|25P0[34])/.test(codeOf(error))
}

/** They lead to a server that has handed over, or hold statements from before a migration. */
function leavesConnectionsUseless(error: unknown): boolean {
  return codeOf(error) === readOnlyTransaction || isOutdated(error)
}

/** A statement under a name no longer fits the tables, or the name is gone. */
function isOutdated(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError && /^(RevalidateCachedQuery|FetchPreparedStatement)$/.test(error.routine ?? '')
  )
}

// These two have no code to be known by.
const isSilence = (error: unknown) => error instanceof Error && error.message === 'Query read timeout'
const isWaitInVain = (error: unknown) =>
  error instanceof Error && error.message === 'timeout exceeded when trying to connect'
