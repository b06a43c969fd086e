import type { Message } from '@parley/sdk/api'
import { type Person, personIn } from './content.ts'

/** What happened, in a sentence: who came and went, who was called. */

type Sentence = (by: string, on: string, data: Record<string, unknown>) => string

const ofMembers = new Map<string, Sentence>(
  Object.entries({
    joined: (by) => `${by} joined`,
    left: (by) => `${by} left`,
    added: (by, on) => `${by} added ${on}`,
    kicked: (by, on) => `${by} removed ${on}`,
    banned: (by, on) => `${by} banned ${on}`,
    unbanned: (by, on) => `${by} lifted the ban on ${on}`,
    scopeChanged: (by, on, data) => `${by} made ${on} ${scopeIn(data)}`,
  } satisfies Record<string, Sentence>),
)

const ofCalls = new Map(
  Object.entries({
    initiated: 'called',
    ongoing: 'is in a call',
    ended: 'ended the call',
    cancelled: 'called, and gave up',
    canceled: 'called, and gave up',
    rejected: 'declined the call',
    busy: 'was in another call',
    unanswered: 'called, and nobody answered',
  }),
)

export function sentenceOf({ category, type, sender, data }: Message, me: string): string {
  const action = String(data.action ?? '')
  const by = nameFor(personIn(data, 'by') ?? personIn(data, 'sender') ?? { uid: sender, name: sender }, me, 'You')
  if (category === 'call') return `${by} ${ofCalls.get(action) ?? 'called'} · ${type === 'video' ? 'video' : 'audio'}`
  const on = nameFor(personIn(data, 'on') ?? { uid: '', name: 'somebody' }, me, 'you')
  return ofMembers.get(action)?.(by, on, data) ?? `${by} changed the group`
}

/** A name keeps its own direction inside the sentence. The app itself has none that anybody knows. */
function nameFor({ uid, name }: Person, me: string, you: 'You' | 'you'): string {
  if (uid === 'app_system') return 'The app'
  return uid === me ? you : `\u2068${name}\u2069`
}

function scopeIn(data: Record<string, unknown>): string {
  const scope = String(Object(Object(data.extras).scope).new ?? 'participant')
  return scope === 'admin' ? 'an admin' : `a ${scope}`
}
