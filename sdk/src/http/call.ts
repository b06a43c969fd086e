import type { Operation } from '../operation.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { filledPath, queryText, type Values } from './address.ts'
import { attempt, type Request } from './attempt.ts'
import { type Body, formBody, jsonBody } from './body.ts'
import { usageError } from './errors.ts'
import { withRetries } from './retry.ts'

/** From an operation and its input to an answer. */

/** Where requests go, who they come from, and how long is waited for them. */
export interface Connection {
  origin: string
  /** What every request carries: credentials, and on whose behalf. */
  headers: Record<string, string>
  timeoutMs: number
  retries: number
  runtime: Runtime
}

export interface CallOptions {
  signal?: AbortSignal
  /** How long each attempt may take. */
  timeoutMs?: number
  retries?: number
  /** A name of your own for a write: under it, it happens once within 24 hours, whoever sends it again. */
  idempotencyKey?: string
}

/** Calls operations as the user who is logged in. */
export type UserCall = <Input, Answer>(
  operation: Operation<Input, Answer, 'client'>,
  input?: Input,
  options?: CallOptions,
) => Promise<Answer>

/** What came of it is told in the order of the log, to this device as to all others. */
export async function done(answer: Promise<unknown>): Promise<void> {
  await answer
}

/** The answer of an operation: what stands in its `data`, and all of it where something stands beside that. */
export function call<Input, Answer>(
  connection: Connection,
  operation: Operation<Input, Answer, never>,
  input: Input | undefined,
  options: CallOptions = {},
): Promise<Answer> {
  return send(connection, operation, (input ?? {}) as Values, options) as Promise<Answer>
}

async function send(
  connection: Connection,
  operation: Operation<never, unknown, never>,
  input: Values,
  options: CallOptions,
): Promise<unknown> {
  const { runtime } = connection
  const { signal, retries = connection.retries, timeoutMs = connection.timeoutMs } = options
  requireWithin('timeoutMs', timeoutMs, 1, timerMsMax)
  requireWithin('retries', retries, 0, retriesMax)
  // Made once: whichever attempt arrives, it is the same request, under the same key.
  const request = requestFor(connection, operation, input, options)
  const answer = await withRetries(() => attempt(request, { timeoutMs, signal }, runtime), retries, signal, runtime)
  const { data, ...beside } = answer as { data: unknown }
  return Object.keys(beside).length > 0 ? answer : data
}

function requestFor(
  { origin, headers, runtime }: Connection,
  operation: Operation<never, unknown, never>,
  input: Values,
  { idempotencyKey }: CallOptions,
): Request {
  const { method, path: template } = operation
  const { path, rest } = filledPath(template, input)
  if (method === 'GET') {
    const { cursor, ...filters } = rest
    const query = queryText({ ...filters, ...(cursor as Values | undefined) })
    return { url: `${origin}${path}${query && '?'}${query}`, method, headers: sendable(headers), body: undefined }
  }
  const key = { 'Idempotency-Key': idempotencyKey ?? runtime.randomId() }
  return {
    url: origin + path,
    method,
    headers: sendable({ ...headers, ...key }),
    body: bodyFor(operation, rest, runtime),
  }
}

function bodyFor({ takesFiles }: Operation<never, unknown, never>, values: Values, runtime: Runtime): Body | undefined {
  const { files, ...others } = values
  if (takesFiles && Array.isArray(files) && files.length > 0) return formBody(others, files, runtime)
  return Object.keys(values).length > 0 ? jsonBody(values) : undefined
}

// Timers end at once where they are asked for more.
const timerMsMax = 2 ** 31 - 1
const retriesMax = 100

function requireWithin(name: string, value: number, least: number, most: number): void {
  if (!(value >= least && value <= most)) throw usageError(`${name} must be a number from ${least} to ${most}`)
}

/** What a header cannot hold would look like a lost connection. */
function sendable(headers: Record<string, string>): Record<string, string> {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\x21-\x7e]+$/.test(value)) throw usageError(`${name} must be a text of letters, digits and signs`)
  }
  return headers
}
