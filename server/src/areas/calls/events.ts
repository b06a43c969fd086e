import { defineEvent, type EventDefinition } from '../../kit/event.ts'
import { OneOf, type Static, Type } from '../../kit/schema.ts'
import { userChannel } from '../users/events.ts'
import { eventExample } from './examples.ts'
import type { Fact as CallFact } from './facts.ts'
import { Fact } from './facts.ts'
import type { CallState } from './state.ts'

const payloadOf = (kind: CallFact['kind']) =>
  Type.Object(
    {
      sessionId: Type.String({ description: 'The call' }),
      mode: OneOf(['call', 'meet', 'presenter']),
      status: Type.String({ description: 'How far the call has come' }),
      members: Type.Array(Type.String(), { description: 'UIDs of all who have a part in the call' }),
      fact: Fact,
    },
    { examples: [eventExample(kind)] },
  )
type PayloadSchema = ReturnType<typeof payloadOf>

const audience = ({ members }: Static<PayloadSchema>) => members.map(userChannel)

const names: Partial<Record<CallFact['kind'], string>> = {
  initiated: 'call.initiated',
  joined: 'call.participantJoined',
  left: 'call.participantLeft',
  rejected: 'call.rejected',
  canceled: 'call.canceled',
  unanswered: 'call.unanswered',
  ended: 'call.ended',
  recordingStopped: 'call.recorded',
  transcribed: 'call.transcribed',
}

const eventOfFact = Object.fromEntries(
  Object.entries(names).map(([kind, name]) => [
    kind,
    defineEvent({ name, payload: payloadOf(kind as CallFact['kind']), audience }),
  ]),
) as Partial<Record<CallFact['kind'], EventDefinition<PayloadSchema>>>

export const callEvents = Object.values(eventOfFact)

/** The event that tells a fact to the world; ringing and camera switches stay in the ledger. */
export function callEventFor(sessionId: string, state: CallState, fact: CallFact) {
  const definition = eventOfFact[fact.kind]
  if (!definition) return undefined
  const members = [...new Set([state.start.initiator, ...state.start.invited, ...state.entries.map(({ uid }) => uid)])]
  return { definition, payload: { sessionId, mode: state.start.mode, status: state.status, members, fact } }
}
