import type { DialectAdapter, QueryCompiler, RawBuilder } from 'kysely'
import type { RunStatement } from './connection.ts'
import type { WantedEntry } from './grams.ts'
import type { Tables } from './tables.ts'

/** The SQL that a database speaks, where the two differ. */
export interface Flavour {
  /** The hidden column that addresses a row, for deleting in bounded batches. */
  rowAddress: string
  rowLocks: RowLocks
  /** A SELECT of one column: these texts, however many. */
  eachOf(texts: string[]): RawBuilder<unknown>
  /** All rows of a SELECT as one JSON text: a list of lists of these values. */
  allAsText(values: RawBuilder<unknown>): RawBuilder<string>
  searchIndex: SearchIndex
  plans: Plans
  /** The largest id of a numbered table up to which no row can come any more, so that one can read on from there. */
  settledId(run: RunStatement, table: keyof Tables): Promise<number>
  /** Takes the next id of a numbered table, for what is told like a row of it and is none. */
  takeId(run: RunStatement, table: keyof Tables): Promise<number>
  /** Statements run in the server's own thread: what is counted by one of them is better counted by several in turn. */
  runsInThread: boolean
  /** There is one transaction that writes at a time, whatever it writes: nobody has to queue up for anything else. */
  writesInTurn: boolean
  createAdapter(): DialectAdapter
  createQueryCompiler(): QueryCompiler
}

/** How a SELECT ends that keeps something from others until the transaction is over. */
export interface RowLocks {
  /** Keeps its rows from other writers. */
  holdRows: RawBuilder<unknown>
  /** The same, but passes over rows that another writer holds. */
  takeRows: RawBuilder<unknown>
  /** Others may change its rows, but not delete them. */
  keepRows: RawBuilder<unknown>
}

/** The index on the grams of search entries, as it is asked; see grams.ts. */
export interface SearchIndex {
  /** From where on: the search entries of an app's list that hold what is wanted; more conditions may follow. */
  entriesWithGrams(appId: string, list: string, wanted: WantedEntry): RawBuilder<unknown>
  /** The same for counting, where the index alone can tell how many there are. */
  gramHits(appId: string, list: string, wanted: WantedEntry): RawBuilder<unknown>
  /** Whether grams are found only side by side and in their order, which leaves nothing for the text to settle. */
  gramsInOrder: boolean
  /** Columns by which entries are found in the order in which they were made, without sorting; nothing, if they are not. */
  entryOrder?: { ofHit: RawBuilder<unknown>; ofEntry: RawBuilder<unknown> }
}

/** How each planner is kept to a plan; see plans.ts. */
export interface Plans {
  /** From where on: the hits of a named subquery, each with the row of a table that matches it. Conditions may follow. */
  lookUpEach(hits: string, table: string, match: RawBuilder<unknown>): RawBuilder<unknown>
  /** Ends the conditions of a SELECT that wants the last row of an index up to a key of two columns. */
  lastOfIndexUpTo(first: KeyPart, second: KeyPart): RawBuilder<unknown>
  /** Begins a statement that is planned for its values. */
  plannedForValues: RawBuilder<unknown>
}

/** A column, and the value that it has in a key. */
export type KeyPart = [column: string, value: RawBuilder<unknown>]
