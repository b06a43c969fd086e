import type { Static } from 'typebox'
import type { Position } from '../storage/database.ts'
import type { EventDefinition } from './event.ts'
import type { Work } from './work.ts'

/** A named reader of the log. What it does and how far it has read commit together. */
export interface Follower {
  name: string
  on: EventDefinition[]
  /** How many events it handles in one transaction; fewer than usual where one event can mean many rows. */
  eventsAtOnce?: number
  handle(event: FollowedEvent, work: Work): Promise<void>
}

export interface FollowedEvent<Event extends EventDefinition = EventDefinition> {
  name: string
  payload: Static<Event['payload']>
  at: number
  position: Position
}

export function follower<Event extends EventDefinition>(definition: {
  name: string
  on: Event[]
  eventsAtOnce?: number
  handle(event: FollowedEvent<Event>, work: Work): Promise<void>
}): Follower {
  return definition as Follower
}
