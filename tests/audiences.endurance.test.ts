import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { userUpdated } from '../server/src/areas/users/events.ts'
import { channelsOf, showsTo } from '../server/src/dispatch/hearing.ts'
import { channelKey } from '../server/src/kit/channel.ts'
import type { EventDefinition } from '../server/src/kit/event.ts'
import { tenantDb } from '../server/src/storage/tenant.ts'
import { databases } from './support/databases.ts'
import { type AppClient, assertSucceeds, type Caller, type House, house } from './support/house.ts'
import { type Random, randomFrom, seedFrom } from './support/random.ts'
import { appWith, as, clientOf } from './support/talk.ts'
import { logAfter } from './support/told.ts'

/**
 * What a user would be told live is what they may read. Random histories are played; after each step every event is given
 * to whoever hears its channels, as joins and leaves say, and may be shown it, and held against what lists answer.
 */

const stepsMax = process.env.PARLEY_TEST_ENDURANCE === 'true' ? 1_500 : 60
const uids = ['ada', 'lin', 'max', 'zoe']
const guids = ['g', 'h']
const roles = ['default', 'guest']

interface Event {
  definition: EventDefinition
  // biome-ignore lint/suspicious/noExplicitAny: payloads of every shape
  payload: any
}

for (const database of databases) {
  describe(`audiences on ${database}`, () => {
    let h: House
    let app: AppClient
    const seed = seedFrom('AUDIENCE_SEED')
    const random = randomFrom(seed)
    const clients = new Map<string, Caller>()
    const heard = new Map<string, Set<string>>()
    let position = 0

    before(async () => {
      h = await house({ database, environment: { PARLEY_LIMIT_STANDARD: '1000000', PARLEY_LIMIT_CORE: '1000000' } })
      app = await appWith(h, ...uids)
      assertSucceeds(await app.post('/roles', { role: 'guest', name: 'Guest' }))
      assertSucceeds(await app.put('/users/zoe', { role: 'guest' }))
      for (const uid of uids) clients.set(uid, await clientOf(h, app, uid))
      for (const guid of guids) await newGroup(guid)
      await h.settle()
      await readLog()
      for (const uid of uids) heard.set(uid, await channelsNow(uid))
    })
    after(() => h.close())

    const newGroup = (guid: string) =>
      app.post('/groups', { guid, name: guid, type: 'public', members: { participants: ['lin', 'zoe'] } }, as('ada'))
    const db = () => tenantDb(h.service.house.database.reader, app.id)
    const channelsNow = async (uid: string) =>
      new Set((await channelsOf(h.service.house.areas, db(), uid)).map(channelKey))

    /** The events since the last time. */
    async function readLog(): Promise<Event[]> {
      const { events, end } = await logAfter(h, app, position)
      position = end
      return events
    }

    /** Whether a list of its conversation holds a message for a user. */
    async function mayRead(uid: string, { id, receiver, receiverType, sender }: Event['payload']): Promise<boolean> {
      const other = sender === uid ? receiver : sender
      const path = receiverType === 'group' ? `/groups/${receiver}/messages` : `/users/${other}/messages`
      const answer = await clients.get(uid)?.get(`${path}?limit=100&affix=prepend`)
      return answer?.status === 200 && answer.body.data.some((message: { id: string }) => message.id === id)
    }

    async function mayHear(uid: string, { definition, payload }: Event): Promise<boolean> {
      const isHeard = definition.audience(payload).some((channel) => heard.get(uid)?.has(channelKey(channel)))
      if (!isHeard) return false
      const shows = await showsTo(h.service.house.areas, db(), uid)
      return shows?.isTold?.(definition, payload) ?? true
    }

    /** When the role of a user was last changed. */
    const changedAt = new Map<string, number>()

    /**
     * Where the two differ on purpose: whoever goes is told of it, and nobody across a block; and live, a message has the
     * role that its sender had when they wrote it.
     */
    function isApart(uid: string, { payload: { message, audience } }: Event): boolean {
      const { on } = message.data.entities
      const told = on?.entityType === 'message' ? on.entity : message
      if (told.sentAt < (changedAt.get(told.sender) ?? 0)) return true
      if (message.receiverType === 'user') return audience !== undefined && !audience.includes(`user:${uid}`)
      return on?.entity.uid === uid
    }

    async function compare(step: string): Promise<number> {
      let compared = 0
      for (const event of await readLog()) {
        const { definition, payload } = event
        if (definition.tellsOf && definition.audience(payload).length > 0) {
          for (const uid of uids.filter((each) => !isApart(each, event))) {
            const [hears, reads] = [await mayHear(uid, event), await mayRead(uid, payload.message)]
            const what = `${step}: ${definition.name} to ${uid}, AUDIENCE_SEED=${seed}`
            assert.equal(hears, reads, what)
            compared += 1
          }
        }
        if (definition === userUpdated) changedAt.set(payload.user.uid, h.clock.now())
        for (const { channel, uid } of definition.joins?.(payload) ?? []) heard.get(uid ?? '')?.add(channelKey(channel))
        for (const { channel, uid } of definition.leaves?.(payload) ?? []) {
          for (const each of uid === undefined ? uids : [uid]) heard.get(each)?.delete(channelKey(channel))
        }
      }
      for (const uid of uids) {
        assert.deepEqual(
          [...(heard.get(uid) ?? [])].toSorted(),
          [...(await channelsNow(uid))].toSorted(),
          `${step}: what ${uid} hears, AUDIENCE_SEED=${seed}`,
        )
      }
      return compared
    }

    it(`tell each user what they may read, and nothing else, over ${stepsMax} steps`, async () => {
      let compared = 0
      for (let n = 0; n < stepsMax; n += 1) {
        h.clock.setOffset(h.clock.offsetSeconds() + 2)
        const { name, act } = stepFrom(random)
        await act(app, (uid) => clients.get(uid))
        compared += await compare(`step ${n}, ${name}`)
      }
      assert.ok(compared > stepsMax, `only ${compared} comparisons`)
    })
  })
}

interface Step {
  name: string
  /** May be refused: then nothing is told. */
  act(app: AppClient, clientOf: (uid: string) => Caller | undefined): Promise<unknown>
}

/** Most steps say something; the others change who may hear it. */
function stepFrom(random: Random): Step {
  const [uid, other] = [random.pick(uids), random.pick(uids)]
  const guid = random.pick(guids)
  const step = (name: string, act: Step['act']): Step => ({ name: `${name} ${uid} ${other} ${guid}`, act })
  const say = (receiver: string, receiverType: string) => (app: AppClient) =>
    app.post('/messages', { receiver, receiverType, data: { text: 'Hello' } }, as(uid))
  const sometimes = random.whole(1, 24)
  if (sometimes <= 5) return step('says to', say(other, 'user'))
  if (sometimes <= 11) return step('says in', say(guid, 'group'))
  const steps: Step[] = [
    step('edits', async (app) => {
      const { data } = (await app.get(`/groups/${guid}/messages?affix=prepend&limit=5&category=message`)).body
      const id = data?.find(({ sender }: { sender: string }) => sender === uid)?.id
      return id && app.put(`/messages/${id}`, { data: { text: 'Changed' } }, as(uid))
    }),
    step('reacts', async (app) => {
      const { data } = (await app.get(`/groups/${guid}/messages?affix=prepend&limit=5&category=message`)).body
      const id = data?.at(0)?.id
      return id && app.post(`/messages/${id}/reactions/${encodeURIComponent('😀')}`, {}, as(uid))
    }),
    step('is added', (app) => app.post(`/groups/${guid}/members`, { participants: [uid] })),
    step('comes', async (_app, client) => client(uid)?.post(`/groups/${guid}/join`)),
    step('leaves', async (_app, client) => client(uid)?.post(`/groups/${guid}/leave`)),
    step('is kicked', (app) => app.delete(`/groups/${guid}/members/${uid}`)),
    step('is banned', (app) => app.post(`/groups/${guid}/members`, { usersToBan: [uid] })),
    step('is unbanned', (app) => app.delete(`/groups/${guid}/bannedusers/${uid}`)),
    step('the group goes', async (app) => {
      if (random.chance(0.7)) return
      await app.delete(`/groups/${guid}`)
      await app.post('/groups', { guid, name: guid, type: 'public', members: { participants: uids } })
    }),
    step('befriends', (app) => app.post(`/users/${uid}/friends`, { accepted: [other] })),
    step('unfriends', (app) => app.delete(`/users/${uid}/friends`, { friends: [other] })),
    step('blocks', (app) => app.post(`/users/${uid}/blockedusers`, { blockedUids: [other] })),
    step('unblocks', (app) => app.delete(`/users/${uid}/blockedusers`, { blockedUids: [other] })),
    step('has another role', (app) => app.put(`/users/${uid}`, { role: random.pick(roles) })),
    step('a role may read', (app) =>
      app.put(`/roles/${random.pick(roles)}/permissions`, { permissions: listing(random, true) }),
    ),
    step('a scope may read', (app) =>
      app.put(`/groups/${guid}/scopes/${random.pick(['participant', 'admin'])}/permissions`, {
        permissions: listing(random, false),
      }),
    ),
  ]
  return random.pick(steps)
}

function listing(random: Random, ofRole: boolean): Record<string, string | string[]> {
  const maybe = (value: string[]) => (random.chance(0.5) ? [] : value)
  const both = {
    'listMessages.allowedMessageCategories': maybe(['message', ...(random.chance(0.5) ? ['action'] : [])]),
    'listMessages.allowedMessageTypes': maybe([random.pick(['text', 'image'])]),
  }
  if (!ofRole) return { ...both, 'listMessages.historyBeforeJoin': random.pick(['allow', 'deny']) }
  return {
    ...both,
    listMessages: random.chance(0.8) ? 'allow' : 'deny',
    'listMessages.mode': random.pick(['all', 'friends']),
    'listMessages.allowedSenderRoles': maybe([random.pick(roles)]),
    'listMessages.allowedReceiverTypes': maybe([random.pick(['user', 'group'])]),
  }
}
