import type { Answer } from '../http.ts'

/**
 * The most expensive that each operation allows to a user with a valid auth token. Cases stand in one table for each area,
 * under the ids of operations; see `cases.ts`.
 */

/** A request of an operation, by one of the users. */
export interface Ask {
  as: string
  params?: Record<string, string>
  query?: Record<string, string | number | boolean>
  body?: Record<string, unknown>
  /** A form, instead of a body. */
  form?: Buffer
}

export interface Abuse {
  /** What makes it the most that is allowed. */
  most: string
  /** The `n`th of these requests, counted over the whole run. */
  ask(stage: Stage, n: number): Ask
  /** What the server is right to answer in place of a success. */
  refusal?: number
  /** What later requests need to know of an answer that was a success. */
  keep?(stage: Stage, answer: Answer, asked: Ask): void
}

/** By operation id. */
export type Abuses = Record<string, Abuse[]>

/** What is there to be abused. */
export interface Stage {
  /** A message that began a thread of thousands of replies and has a reaction of everybody. */
  famous: string
  /** Others of the same group, by the one who has the most conversations. */
  messages: string[]
  /** An interactive message with as many elements as fit. */
  form: string
  /** A message to a group of very many, all of whom have read it. */
  announcement: string
  sessionId: string
  /** What abuse has made so far. */
  made: { groups: { guid: string; owner: string }[]; messages: { id: string; sender: string }[] }
}

/** One of some, again and again. */
export function turn<Item>(items: readonly Item[], n: number): Item {
  const item = items[n % items.length]
  if (item === undefined) throw new Error('There is nothing to take turns with.')
  return item
}
