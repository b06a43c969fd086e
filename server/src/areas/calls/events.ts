import { defineEvent, type EventDefinition } from '../../kit/event.ts'
import { OneOf, type Static, Type } from '../../kit/schema.ts'
import { Audience, messageForms, messageFrame, ofMessage, settledAudience } from '../timeline/events.ts'
import { Message } from '../timeline/schemas.ts'
import { userChannel } from '../users/events.ts'
import { type CallAction, callActions } from './call-messages.ts'
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

/** What webhooks are told of a step in ringing; of one to a group they are not told who declines it. */
const triggers: Partial<Record<CallAction, string>> = {
  initiated: 'call_initiated',
  busy: 'call_busy',
  rejected: 'call_rejected',
  cancelled: 'call_cancelled',
  unanswered: 'call_unanswered',
}

const MessageOfStep = Type.Object({ message: Message, audience: Audience })

function stepWritten(name: string, trigger?: string) {
  return defineEvent<typeof MessageOfStep>({
    name,
    payload: MessageOfStep,
    forms: messageForms,
    audience: settledAudience,
    tellsOf: ofMessage,
    frame: ({ message }) => messageFrame(message),
    doneBy: ({ message: { sender } }) => ({ uid: sender }),
    ...(trigger !== undefined && { webhook: { trigger, body: ({ message }) => ({ call: message }) } }),
  })
}

const written = Object.fromEntries(
  callActions.map((action) => [action, stepWritten(`callMessage.${action}`, triggers[action])]),
) as Record<CallAction, EventDefinition<typeof MessageOfStep>>

const declinedInGroup = stepWritten('callMessage.declined')

/** The event that tells the message of a step. */
export function messageEventFor(action: CallAction, receiverType: string): EventDefinition<typeof MessageOfStep> {
  return action === 'rejected' && receiverType === 'group' ? declinedInGroup : written[action]
}

export const callEvents = [...Object.values(eventOfFact), ...Object.values(written), declinedInGroup]

/** The event that tells a fact to the world; ringing and camera switches stay in the ledger. */
export function callEventFor(sessionId: string, state: CallState, fact: CallFact) {
  const definition = eventOfFact[fact.kind]
  if (!definition) return undefined
  const members = [...new Set([state.start.initiator, ...state.start.invited, ...state.entries.map(({ uid }) => uid)])]
  return { definition, payload: { sessionId, mode: state.start.mode, status: state.status, members, fact } }
}
