import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { areas } from '../../server/src/areas/index.ts'
import type { EventDefinition } from '../../server/src/kit/event.ts'
import { databases } from '../support/databases.ts'
import { connect, type Device, type Frame, untilAllHeard } from '../support/device.ts'
import { type AppClient, assertSucceeds, type Caller, type House, house } from '../support/house.ts'
import { appWith, as, clientOf, say, sayIn } from '../support/talk.ts'
import { logAfter } from '../support/told.ts'

/**
 * Everything that devices are told of, and every device that may or may not be told. Everybody stays connected while all of
 * it happens; a frame's position tells what it was sent for.
 *
 * `ada` acts, by the device `ada-1`; she has `ada-2` too, and has blocked `bob`. She is in the group `boats` with `lin`,
 * `mia` and `bob`; `kim` was kicked from it, and `ben` banned. `lin` is also in `quays` with
 * `mia`, and in `docks` with `zed`. `sam` has nothing to do with any of them.
 */
const people = ['ada', 'lin', 'mia', 'bob', 'kim', 'ben', 'sam', 'zoe', 'zed']
const names = ['ada-1', 'ada-2', 'lin', 'mia', 'bob', 'kim', 'ben', 'sam', 'zoe', 'zed']

interface Scene {
  app: AppClient
  /** With ada's own token, naming the device `ada-1`. */
  ada: Caller
  sam: Caller
  devices: Record<string, Device>
}

interface Row {
  act(scene: Scene): Promise<unknown>
  /**
   * Who is told what: names of devices, under the type and action of the frame. All others are told nothing. Whoever says
   * something has read what was said before; that is told too, and left out here where it is not what a row is about.
   */
  told: Record<string, string>
}

const picture = {
  url: 'https://files.example.org/a.png',
  name: 'a.png',
  mimeType: 'image/png',
  extension: 'png',
  size: 9,
}
const button = { elementType: 'button', elementId: 'ok' }
const press = {
  ...{ category: 'interactive', type: 'card' },
  data: { text: 'Press', interactiveData: { cardActions: [button] }, interactionGoal: { type: 'anyAction' } },
}

const toLin = (more: object = {}) => ({ receiver: 'lin', receiverType: 'user', data: { text: 'Hello' }, ...more })
const toBoats = (more: object = {}) => ({ ...toLin(more), receiver: 'boats', receiverType: 'group' })
const both = 'ada-1 ada-2'
const inBoats = `${both} bob lin mia`
const resourceOf = ({ devices }: Scene, name: string): string => devices[name]?.welcome.resource

const rows: Record<string, Row> = {
  'a text, sent by a device that says so in the header': {
    act: ({ ada }) => ok(ada.post('/messages', toLin())),
    told: { 'message text': 'ada-2 lin' },
  },
  'a text, sent by a device that says so in the message': {
    act: (scene) =>
      ok(scene.app.post('/messages', toLin({ data: { text: 'x', resource: resourceOf(scene, 'ada-1') } }), as('ada'))),
    told: { 'message text': 'ada-2 lin' },
  },
  'a text of no device': {
    act: ({ app }) => say(app, 'ada', 'lin'),
    told: { 'message text': `${both} lin` },
  },
  "a text with somebody else's device in it": {
    act: (scene) =>
      ok(scene.app.post('/messages', toLin({ data: { text: 'x', resource: resourceOf(scene, 'lin') } }), as('ada'))),
    told: { 'message text': `${both} lin` },
  },
  "a text sent with somebody else's device in the header": {
    act: (scene) => {
      const headers = { resource: resourceOf(scene, 'mia') }
      return ok(scene.ada.send('/messages', { method: 'POST', body: toBoats(), headers }))
    },
    told: { 'message text': inBoats },
  },
  'a text in a group': {
    act: ({ ada }) => ok(ada.post('/messages', toBoats())),
    told: { 'message text': 'ada-2 bob lin mia' },
  },
  'a text of somebody blocked, in a group': {
    act: ({ app }) => sayIn(app, 'boats', 'bob'),
    told: { 'message text': inBoats },
  },
  'a text to oneself': {
    act: ({ ada }) => ok(ada.post('/messages', { ...toLin(), receiver: 'ada' })),
    told: { 'message text': 'ada-2' },
  },
  'a text of the app': {
    act: ({ app }) => ok(app.post('/messages', toBoats())),
    told: { 'message text': inBoats },
  },
  'a picture': {
    act: ({ ada }) => ok(ada.post('/messages', toLin({ type: 'image', data: { attachments: [picture] } }))),
    told: { 'message image': 'ada-2 lin' },
  },
  'a custom message': {
    act: ({ ada }) =>
      ok(ada.post('/messages', toLin({ category: 'custom', type: 'place', data: { customData: { at: 1 } } }))),
    told: { 'message custom': 'ada-2 lin' },
  },
  'an interactive message': {
    act: ({ ada }) => ok(ada.post('/messages', toLin(press))),
    told: { 'message interactive': 'ada-2 lin' },
  },
  'a reply': {
    act: async ({ app, ada }) => {
      const { id } = await sayIn(app, 'boats', 'lin')
      await ok(ada.post(`/messages/${id}/thread`, { data: { text: 'Yes' } }))
    },
    told: { 'message text': `${inBoats} ada-2 bob lin mia` },
  },
  'an edit': {
    act: async ({ ada }) => {
      const { id } = await ok(ada.post('/messages', toLin()))
      await ok(ada.put(`/messages/${id}`, { data: { text: 'Two' } }))
    },
    told: { 'message text': 'ada-2 lin', 'message edited': `${both} lin` },
  },
  'a deletion': {
    act: async ({ ada }) => {
      const { id } = await ok(ada.post('/messages', toBoats()))
      await ok(ada.delete(`/messages/${id}`))
    },
    told: { 'message text': 'ada-2 bob lin mia', 'message deleted': inBoats },
  },
  'a deletion for good': {
    act: async ({ app, ada }) => {
      const { id } = await ok(ada.post('/messages', toLin()))
      await ok(app.delete(`/messages/${id}`, { permanent: true }))
    },
    told: { 'message text': 'ada-2 lin', 'message deleted': `${both} lin` },
  },
  'a reaction to a message of one, added and removed': {
    act: async ({ app, ada }) => {
      const { id } = await say(app, 'lin', 'ada')
      await ok(ada.post(`/messages/${id}/reactions/wave`))
      await ok(ada.delete(`/messages/${id}/reactions/wave`))
    },
    told: { 'message text': `${both} lin`, 'reaction added': `${both} lin`, 'reaction removed': `${both} lin` },
  },
  'a reaction in a group': {
    act: async ({ app, ada }) => {
      const { id } = await sayIn(app, 'boats', 'lin')
      await ok(ada.post(`/messages/${id}/reactions/wave`))
    },
    told: { 'message text': inBoats, 'reaction added': inBoats },
  },
  'a pin of a message, and its end': {
    act: async ({ app, ada }) => {
      const { id } = await sayIn(app, 'boats', 'ada')
      await ok(ada.post(`/messages/${id}/pin`))
      await ok(ada.delete(`/messages/${id}/pin`))
    },
    told: { 'message text': inBoats, 'pin pinned': inBoats, 'pin unpinned': inBoats },
  },
  'a message kept for later, and no more': {
    act: async ({ app, ada }) => {
      const { id } = await say(app, 'lin', 'ada')
      await ok(ada.post(`/messages/${id}/save`))
      await ok(ada.delete(`/messages/${id}/save`))
    },
    told: { 'message text': `${both} lin`, 'save saved': 'ada-2', 'save unsaved': 'ada-2' },
  },
  'that one has received and read': {
    act: async ({ app, ada }) => {
      await say(app, 'lin', 'ada')
      await ok(ada.post('/users/lin/conversation/delivered'))
      await ok(ada.post('/users/lin/conversation/read'))
    },
    told: { 'message text': `${both} lin`, 'receipts delivered': 'ada-2 lin', 'receipts read': 'ada-2 lin' },
  },
  'that one in a group has received and read, and with them everybody': {
    act: async ({ app }) => {
      await sayIn(app, 'quays', 'mia')
      for (const mark of ['delivered', 'read']) await ok(app.post(`/groups/quays/conversation/${mark}`, {}, as('lin')))
    },
    told: {
      'message text': 'lin mia',
      'receipts delivered': 'lin mia',
      'receipts read': 'lin mia',
      'receipts deliveredToAll': 'mia',
      'receipts readByAll': 'mia',
    },
  },
  'that one has read by answering': {
    act: async ({ app, ada }) => {
      await say(app, 'lin', 'ada')
      await ok(ada.post('/messages', toLin()))
    },
    told: {
      'message text': `${both} lin ada-2 lin`,
      'receipts delivered': 'ada-2 lin',
      'receipts read': 'ada-2 lin',
    },
  },
  'that something is unread after all': {
    act: async ({ app, ada }) => {
      const { id } = await say(app, 'lin', 'ada')
      await say(app, 'lin', 'ada')
      await ok(ada.post('/users/lin/conversation/read'))
      await ok(ada.delete('/users/lin/conversation/read', { messageId: id }))
    },
    told: { 'message text': `${both} lin ${both} lin`, 'conversation unread': 'ada-2' },
  },
  'tags of a conversation': {
    act: ({ ada }) => ok(ada.put('/users/lin/conversation', { tags: ['dear'] })),
    told: { 'conversation tagged': both },
  },
  'a pin of a conversation, and its end': {
    act: async ({ ada }) => {
      await ok(ada.post('/users/lin/conversation/pin'))
      await ok(ada.delete('/users/lin/conversation/pin'))
    },
    told: { 'conversation pinned': both, 'conversation unpinned': both },
  },
  'a conversation pinned for everybody': {
    act: ({ app }) => ok(app.put('/conversations/pinned', { pinnedConversations: [{ uid: 'lin' }] })),
    told: { 'conversation pinned': names.join(' ') },
  },
  'a goal that was met': {
    act: async ({ app, ada }) => {
      const { id } = await say(app, 'lin', 'ada', '', press)
      await ok(ada.send(`/messages/${id}/interacted`, { method: 'PATCH', body: { interactions: ['ok'] } }))
    },
    told: { 'message interactive': `${both} lin`, 'interaction goalCompleted': 'ada-2 lin' },
  },
  'a thread that is followed, and no more': {
    act: async ({ app, ada }) => {
      const { id } = await sayIn(app, 'boats', 'lin')
      await ok(ada.post(`/messages/${id}/thread/subscription`))
      await ok(ada.delete(`/messages/${id}/thread/subscription`))
    },
    told: { 'message text': inBoats, 'thread followed': both, 'thread unfollowed': both },
  },
  'a profile': {
    act: ({ ada }) => ok(ada.put('/me', { statusMessage: 'Here' })),
    told: { 'user updated': both },
  },
  'a block, and its end': {
    act: async ({ ada }) => {
      await ok(ada.post('/users/ada/blockedusers', { blockedUids: ['mia'] }))
      await ok(ada.delete('/users/ada/blockedusers', { blockedUids: ['mia'] }))
    },
    told: { 'user blocked': `${both} mia`, 'user unblocked': `${both} mia` },
  },
  'what is done across a block': {
    act: async ({ app, ada }) => {
      const { id } = await say(app, 'mia', 'ada')
      await ok(ada.post('/users/ada/blockedusers', { blockedUids: ['mia'] }))
      await app.post(`/messages/${id}/reactions/wave`, {}, as('mia'))
      await app.post('/users/ada/conversation/read', {}, as('mia'))
      await ada.post('/users/mia/conversation/read')
      await ada.post('/messages', { ...toLin(), receiver: 'mia' })
      await ok(ada.delete('/users/ada/blockedusers', { blockedUids: ['mia'] }))
    },
    told: {
      'message text': `${both} mia`,
      'user blocked': `${both} mia`,
      'receipts delivered': 'ada-2',
      'receipts read': 'ada-2',
      'user unblocked': `${both} mia`,
    },
  },
  'a friendship, and a conversation that begins with it': {
    act: ({ app }) => ok(app.post('/users/ada/friends', { accepted: ['sam'], addToConversations: true })),
    told: { 'friend added': `${both} sam`, 'conversation opened': `${both} sam` },
  },
  'the end of a friendship': {
    act: ({ app }) => ok(app.delete('/users/ada/friends', { friends: ['sam'] })),
    told: { 'friend removed': `${both} sam` },
  },
  'a conversation that is forgotten': {
    act: ({ ada }) => ok(ada.delete('/users/lin/conversation')),
    told: { 'conversation reset': both },
  },
  'a conversation that is deleted': {
    act: async ({ app }) => {
      await say(app, 'ada', 'sam')
      await ok(app.delete('/conversations/ada_user_sam', undefined, as('ada')))
    },
    told: { 'message text': `${both} sam`, 'conversation deleted': `${both} sam` },
  },
  'a new group': {
    act: ({ ada }) => ok(ada.post('/groups', { guid: 'oars', name: 'Oars', type: 'public' })),
    told: { 'group created': both },
  },
  'somebody who is added to a group': {
    act: ({ ada }) => ok(ada.post('/groups/oars/members', { participants: ['lin'] })),
    told: { 'message added': `${both} lin` },
  },
  'somebody who joins': {
    act: ({ sam }) => ok(sam.post('/groups/oars/join')),
    told: { 'message joined': `${both} lin sam` },
  },
  'another scope': {
    act: ({ ada }) => ok(ada.put('/groups/oars/members/lin', { scope: 'moderator' })),
    told: { 'message scopeChanged': `${both} lin sam` },
  },
  'another name of a group': {
    act: ({ ada }) => ok(ada.put('/groups/oars', { name: 'Paddles' })),
    told: { 'group updated': `${both} lin sam` },
  },
  'another owner': {
    act: ({ ada }) => ok(ada.put('/groups/oars/owner', { uid: 'lin' })),
    told: { 'group ownerChanged': `${both} lin sam` },
  },
  'somebody who is kicked': {
    act: async ({ app }) => {
      await ok(app.delete('/groups/oars/members/sam', undefined, as('lin')))
      await sayIn(app, 'oars', 'lin')
    },
    told: { 'message kicked': `${both} lin sam`, 'message text': `${both} lin` },
  },
  'somebody who is banned, and may come again': {
    act: async ({ app }) => {
      await ok(app.post('/groups/oars/members', { participants: ['mia'] }))
      await ok(app.post('/groups/oars/bannedusers/mia', undefined, as('lin')))
      await sayIn(app, 'oars', 'lin')
      await ok(app.delete('/groups/oars/bannedusers/mia', undefined, as('lin')))
    },
    told: {
      'message added': `${both} lin mia`,
      'message banned': `${both} lin mia`,
      'message text': `${both} lin`,
      'message unbanned': `${both} lin`,
    },
  },
  'a call that is answered and ended': {
    act: async ({ app, ada }) => {
      const call = await ring(ada, 'lin', 'user')
      await ok(app.put(call, { status: 'ongoing' }, as('lin')))
      await ok(ada.put(call, { status: 'ended' }))
    },
    told: {
      'message initiated': 'ada-2 lin',
      'call initiated': `${both} lin`,
      'message ongoing': `${both} lin`,
      'call participantJoined': `${both} lin`,
      'message ended': 'ada-2 lin',
      'call ended': `${both} lin`,
    },
  },
  'a call that is refused': {
    act: async ({ app, ada }) => ok(app.put(await ring(ada, 'lin', 'user'), { status: 'rejected' }, as('lin'))),
    told: {
      'message initiated': 'ada-2 lin',
      'call initiated': `${both} lin`,
      'message rejected': `${both} lin`,
      'call rejected': `${both} lin`,
    },
  },
  'a call to somebody who is busy': {
    act: async ({ app, ada }) => ok(app.put(await ring(ada, 'lin', 'user'), { status: 'busy' }, as('lin'))),
    told: {
      'message initiated': 'ada-2 lin',
      'call initiated': `${both} lin`,
      'message busy': `${both} lin`,
      'call rejected': `${both} lin`,
    },
  },
  'a call that is taken back': {
    act: async ({ ada }) => ok(ada.put(await ring(ada, 'lin', 'user'), { status: 'cancelled' })),
    told: {
      'message initiated': 'ada-2 lin',
      'call initiated': `${both} lin`,
      'message cancelled': 'ada-2 lin',
      'call canceled': `${both} lin`,
    },
  },
  'a call that nobody answers': {
    act: ({ app }) => app.play({ initiator: 'ada', receiver: 'lin', startAt: 1_767_225_600, steps: [] }),
    told: {
      'message initiated': `${both} lin`,
      'call initiated': `${both} lin`,
      'message unanswered': `${both} lin`,
      'call unanswered': `${both} lin`,
    },
  },
  'a call to a group, which somebody declines': {
    act: async ({ app, ada }) => {
      const call = await ring(ada, 'boats', 'group')
      await ok(app.put(call, { status: 'rejected' }, as('lin')))
      await ok(ada.put(call, { status: 'cancelled' }))
    },
    told: {
      'message initiated': 'ada-2 bob lin mia',
      'call initiated': inBoats,
      'message rejected': inBoats,
      'call rejected': inBoats,
      'message cancelled': 'ada-2 bob lin mia',
      'call canceled': inBoats,
    },
  },
  'somebody who leaves': {
    act: async ({ app, ada }) => {
      await ok(ada.post('/groups/oars/leave'))
      await sayIn(app, 'oars', 'lin')
    },
    told: { 'message left': `${both} lin`, 'message text': 'lin' },
  },
  'a group that is deleted': {
    act: ({ app }) => ok(app.delete('/groups/oars')),
    told: { 'group deleted': 'lin' },
  },
  'a member who is deleted, with every word of theirs': {
    act: async ({ app }) => {
      await sayIn(app, 'docks', 'zed')
      await ok(app.delete('/users/zed', { permanent: true }))
    },
    told: {
      'message text': 'lin zed',
      'user deleted': 'zed',
      'group memberForgotten': 'lin',
      'messages purged': 'lin',
    },
  },
  'somebody who is suspended, and let in again': {
    act: async ({ app }) => {
      await ok(app.delete('/users', { uidsToDeactivate: ['zoe'] }))
      await ok(app.put('/users', { uidsToActivate: ['zoe'] }))
    },
    told: { 'user deactivated': 'zoe' },
  },
}

/** What a frame of each type has in its body, besides the action. */
const bodies: Record<string, string[]> = {
  message: ['id', 'conversationId', 'sender', 'receiver', 'receiverType', 'category', 'type', 'data', 'sentAt'],
  receipts: ['messageId', 'user', 'timestamp'],
  reaction: ['reaction', 'message', 'receiverId', 'receiverType', 'conversationId'],
  pin: ['message'],
  save: ['message'],
  conversation: ['conversation'],
  group: ['group'],
  interaction: ['messageId', 'interactions', 'sender'],
  thread: ['messageId'],
  user: ['user'],
  friend: [],
  messages: ['conversationId', 'ids'],
  call: ['sessionId', 'mode', 'status', 'members', 'fact'],
}
// These tell of what is not there any more, or nothing but who.
const otherBodies: Record<string, string[]> = {
  'conversation opened': ['conversationId'],
  'conversation reset': ['conversationId'],
  'conversation deleted': ['conversationId'],
  'user deleted': ['uid'],
  'user deactivated': ['uid'],
  'friend added': ['user', 'friend'],
}

/** The path of a call that rings. */
async function ring(caller: Caller, receiver: string, receiverType: string): Promise<string> {
  const { data } = await ok(caller.post('/calls', { receiver, receiverType, type: 'audio' }))
  return `/calls/${data.entities.on.entity.sessionid}`
}

async function ok(answered: Promise<Parameters<typeof assertSucceeds>[0]>) {
  return assertSucceeds(await answered).data
}

/** The type of a frame and what has happened; of a message, what kind of message it is. */
function kindOf({ type, body }: Frame): string {
  if (type !== 'message') return `${type} ${body.action}`
  return `message ${body.data.action ?? (body.category === 'message' ? body.type : body.category)}`
}

const isReceipt = (kind: string) => kind.startsWith('receipts ')
const idOf = ({ position }: Frame) => Number(position.split('.')[0])

/** An audience that does not look at what happened is the same for all: nobody. */
const isTold = ({ name, audience }: EventDefinition) => audience.length > 0 && !name.startsWith('call.')

for (const database of databases) {
  describe(`what is told on ${database}`, () => {
    let h: House
    let devices: Record<string, Device>
    const happened = new Map<string, string[]>()
    const spans = new Map<string, [number, number]>()
    before(async () => {
      h = await house({ database })
      const app = await appWith(h, ...people)
      const members = { participants: ['lin', 'mia', 'bob', 'kim', 'ben'] }
      await ok(app.post('/groups', { guid: 'boats', name: 'Boats', type: 'public', members }, as('ada')))
      await ok(app.post('/groups', { guid: 'quays', name: 'Quays', members: { participants: ['lin'] } }, as('mia')))
      await ok(app.post('/groups', { guid: 'docks', name: 'Docks', members: { participants: ['zed'] } }, as('lin')))
      await ok(app.delete('/groups/boats/members/kim', undefined, as('ada')))
      await ok(app.post('/groups/boats/bannedusers/ben', undefined, as('ada')))
      await ok(app.post('/users/ada/blockedusers', { blockedUids: ['bob'] }))
      await h.settle()
      const uidOf = (name: string) => name.split('-')[0] ?? ''
      const connected = await Promise.all(
        names.map(async (name) => [name, await connect(h, app, uidOf(name))] as const),
      )
      devices = Object.fromEntries(connected)
      const ada = withHeaders(await clientOf(h, app, 'ada'), { resource: devices['ada-1']?.welcome.resource })
      const scene: Scene = { app, devices, ada, sam: await clientOf(h, app, 'sam') }
      let end = await h.service.house.database.logEnd()
      for (const [name, { act }] of Object.entries(rows)) {
        const begin = end
        await act(scene)
        await h.settle()
        const { events, end: last } = await logAfter(h, app, begin)
        happened.set(
          name,
          events.map(({ definition }) => definition.name),
        )
        end = last
        spans.set(name, [begin, end])
      }
      await untilAllHeard(
        app,
        Object.values(devices).filter(({ uid }) => uid !== 'zed' && uid !== 'zoe'),
      )
    })
    after(() => h.close())

    for (const [name, { told }] of Object.entries(rows)) {
      it(`${name}: to whom it should be, and to nobody else`, () => {
        const [begin, end] = spans.get(name) ?? assert.fail()
        const heard: Record<string, string[]> = {}
        for (const [device, { frames }] of Object.entries(devices)) {
          for (const frame of frames.slice(1).filter((each) => idOf(each) > begin && idOf(each) <= end)) {
            const kind = kindOf(frame)
            heard[kind] = [...(heard[kind] ?? []), device]
          }
        }
        const expected = Object.entries(told).map(([kind, list]) => [kind, list.split(' ').toSorted()])
        for (const list of Object.values(heard)) list.sort()
        const isAboutReading = Object.keys(told).some(isReceipt)
        const compared = Object.entries(heard).filter(([kind]) => isAboutReading || !isReceipt(kind))
        assert.deepEqual(Object.fromEntries(compared), Object.fromEntries(expected))
      })
    }

    it('in one form, with the record in its place and a position that grows', () => {
      for (const { frames } of Object.values(devices)) {
        const told = frames.slice(1)
        for (const frame of told) {
          const { type, body, position } = frame
          assert.match(position, /^\d+\.[0-9a-f]{8}$/)
          const fields = otherBodies[kindOf(frame)] ?? bodies[type] ?? assert.fail(type)
          for (const field of fields) assert.notEqual(body[field], undefined, `${kindOf(frame)}: ${field}`)
          assert.equal(body.audience, undefined)
          // What is so for one of them is not told to all.
          if (type === 'receipts')
            assert.deepEqual(['hasBlockedMe' in body.user, 'blockedByMe' in body.user], [false, false])
          if (type === 'group') assert.deepEqual(['scope' in body.group, 'hasJoined' in body.group], [false, false])
          if (type === 'message') {
            assert.deepEqual([frame.sender, frame.receiver], [body.sender, body.receiver])
            assert.deepEqual([body.threadSubscribed, body.savedAt], [undefined, undefined])
          }
        }
        const ids = told.map(idOf)
        assert.deepEqual(
          ids,
          [...new Set(ids)].toSorted((a, b) => a - b),
        )
      }
    })

    it('for every event that anybody hears of', () => {
      const seen = new Set([...happened.values()].flat())
      const missing = areas.flatMap(({ events }) => events as EventDefinition[]).filter((event) => isTold(event))
      assert.deepEqual(
        missing.filter(({ name }) => !seen.has(name)).map(({ name }) => name),
        [],
      )
    })
  })
}

/** The same caller, who sends these headers along. */
function withHeaders(caller: Caller, headers: Record<string, string>): Caller {
  const send: Caller['send'] = (path, sending) =>
    caller.send(path, { ...sending, headers: { ...headers, ...sending.headers } })
  const withBody = (method: string) => (path: string, body?: unknown) => send(path, { method, body })
  return {
    send,
    get: (path) => send(path, {}),
    post: withBody('POST'),
    put: withBody('PUT'),
    delete: withBody('DELETE'),
  }
}
