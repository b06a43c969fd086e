import type { Static, TSchema } from 'typebox'
import type { Channel, Passage } from './channel.ts'

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
  webhook?: { trigger: string; body: (payload: Static<Payload>) => object }
  /** What webhooks are told besides, once for each of several, such as those whom a message names. */
  webhookForEach?: { trigger: string; bodies: (payload: Static<Payload>) => object[] }
}

export function defineEvent<Payload extends TSchema>(definition: EventDefinition<Payload>): EventDefinition<Payload> {
  return definition
}
