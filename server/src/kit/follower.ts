import type { Static } from 'typebox'
import type { EventDefinition } from './event.ts'
import type { Work } from './work.ts'

/** A named reader of the log. What it does and how far it has read commit together. */
export interface Follower {
  name: string
  /** Which events it is given: these, or all whose definition it wants, such as those that have a webhook. */
  on: EventDefinition[] | ((event: EventDefinition) => boolean)
  /** Where it begins when it is new: at the start of the log, as most do, or with what happens from now on. */
  from?: 'start' | 'now'
  /** How many events it handles in one transaction; fewer than usual where one event can mean many rows. */
  eventsAtOnce?: number
  handle(event: FollowedEvent, work: Work): Promise<void>
}

export interface FollowedEvent<Event extends EventDefinition = EventDefinition> {
  /** Its place in the log; no other event has, or will have, this id. */
  id: number
  definition: Event
  payload: Static<Event['payload']>
  at: number
}

export function follower<Event extends EventDefinition>(
  definition: Omit<Follower, 'on' | 'handle'> & {
    on: Event[] | ((event: EventDefinition) => boolean)
    handle(event: FollowedEvent<Event>, work: Work): Promise<void>
  },
): Follower {
  return definition as Follower
}
