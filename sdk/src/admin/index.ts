import { appGroups, managementGroups } from '../generated/groups.ts'
import { originOf } from '../http/address.ts'
import { type Connection, call } from '../http/call.ts'
import type { Caller, Operation } from '../operation.ts'
import { type Runtime, usualRuntime } from '../runtime/runtime.ts'
import { bound, type Groups, type Words } from './groups.ts'
import { type Send, sender } from './send.ts'

/** The API for programs that run on servers of your own: they hold keys, which no client may have. */

export type { CallOptions } from '../http/call.ts'
export {
  type ErrorDetails,
  type ErrorKind,
  type KnownErrorCode,
  ParleyError,
  type ParleyErrorOf,
} from '../http/errors.ts'
export type { List } from '../http/list.ts'
export type { Runtime } from '../runtime/runtime.ts'
export type { Receiver, Sending } from './send.ts'

interface Settings {
  /** `https://4be21f90.api-eu.example.org`: the host alone. */
  url: string
  /** How long each attempt may take; 30 s if absent. */
  timeoutMs?: number
  /** How often a call is tried again after a lost connection, a time-out, 429 or 5xx; twice if absent. */
  retries?: number
  /** What to use instead of the globals of the place where this runs. */
  runtime?: Partial<Runtime>
}

export interface AdminSettings extends Settings {
  apiKey: string
  /** Where the host name does not tell which app is meant. */
  appId?: string
}

export interface ManagementSettings extends Settings {
  /** A management key, and its secret. */
  key: string
  secret: string
}

/** Calls any operation, also one whose answer no method gives in full. */
interface Calls<By extends Caller> {
  call<Input, Answer>(operation: Operation<Input, Answer, By>, ...words: Words<Input>): Promise<Answer>
}

/** All is generated, but that a message is sent to someone. */
type AppMethods<By extends 'app' | 'actor'> = Omit<Groups<typeof appGroups, By>, 'messages'> &
  Calls<By> & { messages: Omit<Groups<typeof appGroups, By>['messages'], 'send'> & { send: Send } }

/** What a key can do on behalf of a user. */
export type ActingAdmin = AppMethods<'actor'>

/** What a key can do as the app itself. */
export type Admin = AppMethods<'app'> & {
  /** The same on behalf of a user, with what that user may do. */
  as(uid: string): ActingAdmin
}

export type Management = Groups<typeof managementGroups, 'management'> & Calls<'management'>

/** Sends nothing before something is called. */
export function createAdmin({ apiKey, appId, ...settings }: AdminSettings): Admin {
  const connection = connectionFor(settings, { apikey: apiKey, ...(appId !== undefined && { appid: appId }) })
  return { ...appMethods<'app'>(connection), as: (uid) => appMethods<'actor'>(onBehalfOf(uid, connection)) }
}

/** The management door: apps, their settings and who runs them. */
export function createManagement({ key, secret, ...settings }: ManagementSettings): Management {
  const connection = connectionFor(settings, { key, secret })
  return { ...bound(managementGroups, connection), ...callsOf(connection) } as unknown as Management
}

const usualTimeoutMs = 30_000
const usualRetries = 2

function connectionFor(settings: Settings, headers: Record<string, string>): Connection {
  const { url, timeoutMs = usualTimeoutMs, retries = usualRetries, runtime } = settings
  return { origin: originOf(url), headers, timeoutMs, retries, runtime: { ...usualRuntime, ...runtime } }
}

function onBehalfOf(uid: string, connection: Connection): Connection {
  return { ...connection, headers: { ...connection.headers, onBehalfOf: uid } }
}

function appMethods<By extends 'app' | 'actor'>(connection: Connection): AppMethods<By> {
  const groups = bound(appGroups, connection)
  const messages = { ...groups.messages, send: sender(connection) }
  return { ...groups, messages, ...callsOf(connection) } as unknown as AppMethods<By>
}

function callsOf(connection: Connection): Calls<never> {
  return {
    call: (operation, ...[input, options]) => call(connection, operation, input, options),
  }
}
