import type { TenantDb } from '../storage/tenant.ts'
import type { EventDefinition } from './event.ts'
import type { Actor } from './operation.ts'

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

/** What a user may be shown of what is told in the channels that they hear. */
export interface Shows {
  /** Whether they are told of an event at all. */
  isTold?(event: EventDefinition, payload: unknown): boolean
  veil?: Veil
}

/** What is kept from somebody of what they are told all the same. */
export interface Veil {
  /** Those in a frame who are no more than an id to them. */
  hidden(frame: object): string[]
  /** The frame without what it tells of some. */
  without(frame: object, ids: string[]): object
}

/** What an area knows about who hears what. */
export interface Hearing {
  /** The channels that a user hears now; events tell by `joins` and `leaves` how that changes. */
  channels?(db: TenantDb, uid: string): Promise<Channel[]>
  /**
   * What of them is kept from the user, because they are not shown it otherwise; nothing, if they may hear all. Decides
   * from what was read before. Whoever is not there to act is given by nothing but their id.
   */
  shows?(db: TenantDb, uid: string, actor: Actor | undefined): Promise<Shows | undefined>
  /** Whether what is shown in a channel depends on what somebody is in it, so that nobody knows once they have left it. */
  isRuled?(db: TenantDb, channel: Channel): Promise<boolean>
}
