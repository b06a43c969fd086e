import { originOf } from '../http/address.ts'
import type { Connection } from '../http/call.ts'
import { type Runtime, usualRuntime } from '../runtime/runtime.ts'
import { createShelf, type Shelf, type TextStorage } from '../store/shelf.ts'
import type { TokenSource } from '../sync/token.ts'

/** Whose coming and going is told. */
export type Presence = 'all' | 'friends' | 'none' | { roles: readonly string[] }

export interface ClientSettings {
  /** `https://4be21f90.api-eu.example.org`: the host alone. */
  url: string
  /** Where the host name does not tell which app is meant. */
  appId?: string
  token: TokenSource
  /** `none` if absent. */
  presence?: Presence
  /** Such as `localStorage`: texts that wait to be sent survive reloads. Without one they are lost with the page. */
  storage?: TextStorage
  /**
   * `delivered`: senders are told that what they wrote has arrived. `read`: also that it was read, where somebody is
   * subscribed to the messages, at their end, on a page with the focus, for a second. `off` if absent.
   */
  autoReceipts?: 'off' | 'delivered' | 'read'
  /** What to use instead of the globals of the place where this runs. */
  runtime?: Partial<Runtime>
}

const timeoutMs = 30_000
const retries = 2

export function connectionFor({ url, appId, runtime }: ClientSettings): Connection {
  const headers: Record<string, string> = appId === undefined ? {} : { appid: appId }
  return { origin: originOf(url), headers, timeoutMs, retries, runtime: { ...usualRuntime, ...runtime } }
}

/** What is kept of a user: no two users or apps have it in common. */
export function shelfFor(storage: TextStorage, { origin, headers }: Connection, uid: string): Shelf {
  return createShelf(storage, ['outbox', origin, headers.appid ?? '', uid])
}

/** Browsers send no headers with a WebSocket. */
export function socketUrl({ origin, headers }: Connection): string {
  const app = headers.appid === undefined ? '' : `?appid=${encodeURIComponent(headers.appid)}`
  return `${origin.replace(/^http/i, 'ws')}/v3/realtime${app}`
}

export function presenceWish(presence: Presence = 'none'): object {
  if (typeof presence === 'object') return { mode: 'ROLES', roles: presence.roles }
  return { mode: { all: 'ALL_USERS', friends: 'FRIENDS', none: 'NONE' }[presence] }
}
