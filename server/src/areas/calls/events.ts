import { defineEvent, type EventDefinition } from '../../kit/event.ts'
import { OneOf, type Static, Type } from '../../kit/schema.ts'
import { eventExample } from './examples.ts'
import type { Fact as CallFact } from './facts.ts'
import { Fact } from './facts.ts'
import type { CallState } from './state.ts'

const payload = Type.Object(
  {
    sessionId: Type.String(),
    mode: OneOf(['call', 'meet', 'presenter']),
    status: Type.String(),
    members: Type.Array(Type.String()),
    fact: Fact,
  },
  { examples: [eventExample] },
)
type Payload = Static<typeof payload>

const audience = ({ members }: Payload) => members.map((uid) => `user:${uid}`)

const event = (name: string) => defineEvent({ name, payload, audience })

const eventOfFact: Partial<Record<CallFact['kind'], EventDefinition<typeof payload>>> = {
  initiated: event('call.initiated'),
  joined: event('call.participantJoined'),
  left: event('call.participantLeft'),
  rejected: event('call.rejected'),
  canceled: event('call.canceled'),
  unanswered: event('call.unanswered'),
  ended: event('call.ended'),
  recordingStopped: event('call.recorded'),
  transcribed: event('call.transcribed'),
}

export const callEvents = Object.values(eventOfFact)

/** The event that tells a fact to the world; ringing and camera switches stay in the ledger. */
export function callEventFor(sessionId: string, state: CallState, fact: CallFact) {
  const definition = eventOfFact[fact.kind]
  if (!definition) return undefined
  const members = [...new Set([state.start.initiator, ...state.start.invited, ...state.entries.map(({ uid }) => uid)])]
  return { definition, payload: { sessionId, mode: state.start.mode, status: state.status, members, fact } }
}
