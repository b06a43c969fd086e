import assert from 'node:assert/strict'
import type { AppClient, Caller } from './house.ts'
import type { Answer } from './http.ts'
import type { Random } from './random.ts'
import { as } from './talk.ts'

/** What people of an app do at random, several of them at a time; some of it is refused. */
export interface LiveOperations {
  /** Whatever can be done at any moment. `speaker` is a device that speaks for itself, and is not told its own words. */
  act(speaker?: { uid: string; name: string; resource: string }): Promise<void>
  /** What changes who may be shown what: where it happens while something is said, either order is right. */
  changeSight(): Promise<void>
  isRetracted(messageId: string): boolean
  /** Texts that were said to somebody and acknowledged. */
  said: { text: string; from: string; to: string }[]
}

interface Said {
  id: string
  sender: string
  talk: string
}

const recentMax = 40
// What its members are shown depends on their scope.
const ruled = 'ruled'
const reactions = ['😀', '👍', '🎉']

export function liveOperations(
  app: AppClient,
  random: Random,
  { uids, guests, client }: { uids: string[]; guests: string[]; client(uid: string): Caller },
): LiveOperations {
  const guids = ['boats', 'trees', 'chess', ruled]
  const recent: Said[] = []
  const retracted = new Set<string>()
  const said: LiveOperations['said'] = []
  let count = 0

  const uid = () => random.pick(uids)
  const guid = () => random.pick(guids)
  const plainGuid = () => random.pick(guids.filter((each) => each !== ruled))
  const message = () => random.pick(recent) as Said | undefined
  const next = () => {
    count += 1
    return count
  }

  async function say(from: string, headers: Record<string, string>, name = 'somebody'): Promise<Answer> {
    const text = `${name} says ${next()}`
    const isGroup = random.chance(0.6)
    const receiver = isGroup ? guid() : uid()
    const receiverType = isGroup ? 'group' : 'user'
    const answer = await app.post('/messages', { receiver, receiverType, data: { text } }, { ...as(from), ...headers })
    if (answer.status !== 200) return answer
    recent.push({ id: answer.body.data.id, sender: from, talk: `/${receiverType}s/${receiver}` })
    if (recent.length > recentMax) recent.shift()
    if (!isGroup) said.push({ text, from, to: receiver })
    return answer
  }

  async function takeBack({ id, sender }: Said): Promise<Answer> {
    // From the moment that it is asked for, it may be left out.
    retracted.add(id)
    return app.delete(`/messages/${id}`, random.chance(0.3) ? { permanent: true } : undefined, as(sender))
  }

  const ofMessage = (act: (message: Said, by: string) => Promise<Answer>) => async () => {
    const known = message()
    return known && act(known, random.chance(0.6) ? known.sender : uid())
  }
  const reaction = () => encodeURIComponent(random.pick(reactions))

  const acts: (() => Promise<Answer | undefined>)[] = [
    ofMessage(({ id, sender }) => app.put(`/messages/${id}`, { data: { text: `Changed ${next()}` } }, as(sender))),
    ofMessage(takeBack),
    ofMessage(({ id }, by) => app.post(`/messages/${id}/reactions/${reaction()}`, {}, as(by))),
    ofMessage(({ id }, by) => app.post(`/messages/${id}/reactions/${reaction()}`, {}, as(by))),
    ofMessage(({ id }, by) => app.delete(`/messages/${id}/reactions/${reaction()}`, undefined, as(by))),
    ofMessage(({ id }, by) => app.post(`/messages/${id}/pin`, {}, as(by))),
    ofMessage(({ id }, by) => app.delete(`/messages/${id}/pin`, undefined, as(by))),
    ofMessage(({ id }, by) => app.post(`/messages/${id}/save`, {}, as(by))),
    ofMessage(({ talk }, by) => app.post(`${talk}/conversation/read`, {}, as(by))),
    ofMessage(({ talk }, by) => app.post(`${talk}/conversation/delivered`, {}, as(by))),
    () => client(uid()).post(`/groups/${plainGuid()}/join`),
    () => client(uid()).post(`/groups/${plainGuid()}/leave`),
    () => app.post(`/groups/${plainGuid()}/members`, { participants: [uid(), uid()] }),
    () => app.post(`/groups/${plainGuid()}/members`, { participants: [uid(), uid()] }),
    () => app.delete(`/groups/${plainGuid()}/members/${uid()}`),
    () => app.post(`/groups/${plainGuid()}/bannedusers/${uid()}`),
    () => app.delete(`/groups/${plainGuid()}/bannedusers/${uid()}`),
    () => app.delete(`/groups/${plainGuid()}/bannedusers/${uid()}`),
    () => app.post(`/users/${uid()}/blockedusers`, { blockedUids: [uid()] }),
    () => app.delete(`/users/${uid()}/blockedusers`, { blockedUids: [uid()] }),
    () => app.delete(`/users/${uid()}/blockedusers`, { blockedUids: [uid()] }),
    async () => {
      const made = `made-${next()}`
      const answer = await app.post('/groups', { guid: made, name: made, type: 'public' }, as(uid()))
      if (answer.status === 200) guids.push(made)
      return answer
    },
    async () => {
      const last = guids.length > 6 && random.chance(0.1) ? guids.pop() : undefined
      return last === undefined ? undefined : app.delete(`/groups/${last}`)
    },
  ]

  const sights: (() => Promise<Answer>)[] = [
    () => app.put(`/users/${random.pick(guests)}`, { role: random.pick(['default', 'guest']) }),
    () => app.put('/roles/guest/permissions', { permissions: roleListing() }),
    () => app.put(`/groups/${ruled}/scopes/participant/permissions`, { permissions: scopeListing() }),
    () => app.put(`/groups/${ruled}/members/${uid()}`, { scope: random.pick(['participant', 'moderator']) }),
    () => app.post(`/groups/${ruled}/members`, { participants: [uid(), uid()] }),
    () => app.delete(`/groups/${ruled}/members/${random.pick(uids.slice(1))}`),
    () => app.post(`/users/${random.pick(guests)}/friends`, { accepted: [uid()] }),
    () => app.delete(`/users/${random.pick(guests)}/friends`, { friends: [uid()] }),
  ]

  const maybe = (values: string[]) => (random.chance(0.5) ? [] : values)
  const roleListing = () => ({
    'listMessages.allowedMessageCategories': maybe(['message']),
    'listMessages.allowedReceiverTypes': maybe([random.pick(['user', 'group'])]),
    'listMessages.mode': random.pick(['all', 'friends']),
    'listMessages.allowedSenderRoles': maybe([random.pick(['default', 'guest'])]),
  })
  const scopeListing = () => ({
    'listMessages.allowedMessageCategories': maybe(['message']),
    'listMessages.historyBeforeJoin': random.pick(['allow', 'deny']),
  })

  function isNoFault(answer: Answer | undefined): void {
    assert.ok((answer?.status ?? 200) < 500, answer?.text)
  }

  return {
    said,
    isRetracted: (id) => retracted.has(id),
    async act(speaker) {
      if (random.chance(0.5)) isNoFault(await random.pick(acts)())
      else if (speaker) isNoFault(await say(speaker.uid, { resource: speaker.resource }, speaker.name))
      else isNoFault(await say(uid(), {}))
    },
    async changeSight() {
      isNoFault(await random.pick(sights)())
      // From here on everybody who is in the group is known in it.
      const body = { receiver: ruled, receiverType: 'group', data: { text: `Seen ${next()}` } }
      isNoFault(await app.post('/messages', body, as(uids[0] as string)))
    },
  }
}
