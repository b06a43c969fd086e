import type { Static, TSchema } from 'typebox'
import type { Channel, Passage } from './channel.ts'
import type { Tools } from './ports.ts'

/** Something that can happen: its name, what it carries, who may see it live, and how a webhook tells it. */
export interface EventDefinition<Payload extends TSchema = TSchema> {
  name: string
  payload: Payload
  /** Channels whose listeners may see it; an empty list keeps it inside the server. */
  audience: (payload: Static<Payload>) => Channel[]
  /** Who begins to hear which channel with it, and who ceases to, at its place in the log. */
  joins?: (payload: Static<Payload>) => Passage[]
  leaves?: (payload: Static<Payload>) => Passage[]
  /** The records in it that some who hear it may not be shown; see `Hearing.shows`. */
  tellsOf?: (payload: Static<Payload>) => object[]
  /** Those for whom `Hearing.shows` may answer otherwise from here on. */
  changesSightOf?: (payload: Static<Payload>) => Channel[]
  /** Ids of records that are shown to nobody any more, also where earlier events are told later. */
  retracts?: (payload: Static<Payload>) => string[]
  /** Whose connections end with it. */
  ends?: (payload: Static<Payload>) => Ended
  /** How devices are told; by the event's own name, if absent (see `frameOf`). */
  frame?: (payload: Static<Payload>) => Frame
  /** Who did it, where the device that they did it from is not told; which one, if the payload tells it. */
  doneBy?: (payload: Static<Payload>) => { uid: string; device?: string | undefined }
  /** What of it the log keeps in another form, and how that is told: an address that ends is signed when it is told. */
  forms?: EventForms<Static<Payload>>
  webhook?: { trigger: string; body: (payload: Static<Payload>) => object }
  /** What webhooks are told besides, once for each of several, such as those whom a text names. */
  webhookForEach?: { trigger: string; bodies: (payload: Static<Payload>) => object[] }
}

/** What a device is sent, and what it sends: one envelope both ways. */
export interface Frame {
  type: string
  sender?: string
  receiver?: string
  receiverType?: string
  messageSender?: string
  body?: object
}

/** Connections that end: all of the app, those of a user, or those that one token has opened. */
export interface Ended {
  uid?: string
  tokenFingerprint?: string
}

export interface EventForms<Payload> {
  kept: EventForm<Payload>
  told: EventForm<Payload>
  /** What is left of it, told later, without records that were retracted meanwhile; nothing, if it is about one of them. */
  left?: (payload: Payload, isRetracted: (id: string) => boolean) => Payload | undefined
}

/** The same payload in another form; `where` is the app that it is of. */
export type EventForm<Payload> = (payload: Payload, where: Where) => Payload

export interface Where {
  appId: string
  tools: Tools
}

export function defineEvent<Payload extends TSchema>(definition: EventDefinition<Payload>): EventDefinition<Payload> {
  return definition
}
