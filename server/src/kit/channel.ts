import type { TenantDb } from '../storage/tenant.ts'
import type { EventDefinition } from './event.ts'

/** Those who hear the same events: what kind of channel it is, and the id of what they have in common, if there are many. */
export interface Channel {
  kind: string
  id: string
}

/** Heard by every user of the app. */
export const appChannel: Channel = { kind: 'app', id: '' }

/** One text for each channel, as stored events and indexes have it. Two channels never have the same: a kind has no colon. */
export function channelKey({ kind, id }: Channel): string {
  return id === '' ? kind : `${kind}:${id}`
}

export function channelOf(key: string): Channel {
  const colon = key.indexOf(':')
  return colon < 0 ? { kind: key, id: '' } : { kind: key.slice(0, colon), id: key.slice(colon + 1) }
}

/** Somebody begins to hear a channel, or ceases to; everybody who hears it, where nobody is named. */
export interface Passage {
  channel: Channel
  uid?: string
}

export type Shows = (event: EventDefinition, payload: unknown) => boolean

export interface Hearing {
  /** The channels that a user hears now; events tell by `joins` and `leaves` how that changes. */
  channels?(db: TenantDb, uid: string): Promise<Channel[]>
  /** What of them the user may be shown, by what was read before; nothing, if that is all. */
  shows?(db: TenantDb, uid: string): Promise<Shows | undefined>
  /** Whether that depends, in a channel, on what somebody is in it: once they have left it, nobody knows. */
  isRuled?(db: TenantDb, channel: Channel): Promise<boolean>
}
