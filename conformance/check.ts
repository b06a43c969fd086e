import { isDeepStrictEqual } from 'node:util'
import type { Answer, Caller, Connection } from './client.ts'

/** The server under test, as a check sees it. */
export interface Server {
  /** The chat address with the fullAccess key. */
  api: Caller
  /** The calls address with the fullAccess key. */
  calls: Caller
  /** The chat address with the authOnly key. */
  auth: Caller
  /** The management door, if the suite was given what opens it, and the app under test as it is known there. */
  management: { api: Caller; appId: string } | undefined
  connection: Connection
  url: string
  callsUrl: string
  apiKey: string
  authKey: string
  /** An id that nobody has used; every run and every call gives another one. */
  fresh(word: string): string
  /** Consequences may arrive a moment later; this asks until they have, and not for ever. */
  soon(ask: () => Promise<Answer>, has: (answer: Answer) => boolean): Promise<Answer>
  /** Times are whole seconds: what happens after this happens later. */
  nextSecond(): Promise<void>
  /** Runs after the check, whatever came of it. */
  afterwards(work: () => Promise<unknown>): void
}

/** One promise of the contract and how to see whether it is kept. */
export interface Check {
  /** The section of the contract it stands in. */
  section: string
  expects: string
  run(server: Server): Promise<void>
}

export interface CheckedArea {
  /** How it is named on the command line. */
  name: string
  title: string
  /** The contract's number for the area. */
  contract: string
  checks: Check[]
}

export function check(section: string, expects: string, run: (server: Server) => Promise<void>): Check {
  return { section, expects, run }
}

/** The promise is not kept. */
export class NotKept extends Error {
  override name = 'NotKept'
}

/** The server holds nothing by which the promise could be seen. */
export class NotSeen extends Error {
  override name = 'NotSeen'
}

export function holds(condition: boolean, expected: string): asserts condition {
  if (!condition) throw new NotKept(expected)
}

export function equal(actual: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(actual, expected)) {
    throw new NotKept(`${what} should be ${JSON.stringify(expected)}, is ${JSON.stringify(actual)}`)
  }
}

/** The answer is a success; gives its body. */
// biome-ignore lint/suspicious/noExplicitAny: the other side may answer anything
export function success({ status, body }: Answer): any {
  holds(status === 200 && typeof body?.data === 'object', 'status 200 and a body with `data`')
  return body
}

/** The record or the list that a success carries. */
// biome-ignore lint/suspicious/noExplicitAny: the other side may answer anything
export function data(answer: Answer): any {
  return success(answer).data
}

/** The answer is this failure, in the form every failure has; `field` is one that `details` must name. */
export function failure({ status, body }: Answer, expectedStatus: number, code: string, field?: string): void {
  const error = body?.error
  holds(status === expectedStatus && error?.code === code, `status ${expectedStatus} and the code ${code}`)
  errorForm(body)
  if (field === undefined) return
  const sentences = error.details?.[field]
  const named = Array.isArray(sentences) && sentences.every((each) => typeof each === 'string')
  holds(named, `\`details\` names ${field} with a list of sentences`)
}

/** The sentence of a refusal has these words in it; clients look for them to make a creation repeatable. */
// biome-ignore lint/suspicious/noExplicitAny: the other side may answer anything
export function says(error: any, words: string): void {
  holds(String(error?.message).includes(words), `\`error.message\` says "${words}"`)
}

// biome-ignore lint/suspicious/noExplicitAny: the other side may answer anything
export function errorForm(body: any): void {
  equal(Object.keys(body ?? {}), ['error'], 'the only property of an error body')
  for (const name of ['code', 'message', 'devMessage', 'source']) {
    holds(typeof body.error[name] === 'string', `\`error.${name}\` is a string`)
  }
}

/** An entry of a bulk answer that did not work out. */
// biome-ignore lint/suspicious/noExplicitAny: the other side may answer anything
export function failedEntry(entry: any, code: string, what: string): void {
  equal(entry?.success, false, `\`success\` of ${what}`)
  equal(entry?.error?.code, code, `\`error.code\` of ${what}`)
  errorForm({ error: entry.error })
}

/** An act that leaves no record to show. */
export function done(answer: Answer): void {
  doneEntry(data(answer), 'the act')
}

// biome-ignore lint/suspicious/noExplicitAny: the other side may answer anything
export function doneEntry(entry: any, what: string): void {
  equal(entry?.success, true, `\`success\` of ${what}`)
  holds(typeof entry.message === 'string', `\`message\` of ${what} is a string`)
}

/** UNIX seconds, not milliseconds and no text. */
export function isSeconds(value: unknown): value is number {
  return Number.isInteger(value) && String(value).length === 10
}

export interface Refusal {
  expects: string
  method?: 'POST' | 'PUT' | 'DELETE' | 'GET'
  path: string | ((server: Server) => Promise<string>)
  body?: unknown
  headers?: Record<string, string>
  status: number
  code: string
  field?: string
}

/** Requests that must be refused, as a table: one check for each line. */
export function refusals(section: string, table: Refusal[], door: 'api' | 'calls' = 'api'): Check[] {
  return table.map(({ expects, method = 'GET', path, body, headers, status, code, field }) =>
    check(section, `${expects}: ${status} ${code}${field ? `, details.${field}` : ''}`, async (server) => {
      const where = typeof path === 'string' ? path : await path(server)
      const sending = { ...(body !== undefined && { body }), ...(headers && { headers }) }
      failure(await server[door].send(method, where, sending), status, code, field)
    }),
  )
}
