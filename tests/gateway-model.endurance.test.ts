import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { settingsList } from '../server/src/config.ts'
import { databases } from './support/databases.ts'
import { connect, type Device, type Frame, logIn, tokenOf, untilTold } from './support/device.ts'
import { createFollower, type Follower } from './support/follower.ts'
import { type AppClient, assertSucceeds, type Caller, type House, house } from './support/house.ts'
import { liveOperations } from './support/live-operations.ts'
import { times } from './support/quick.ts'
import { randomFrom, seedFrom } from './support/random.ts'
import { type SecondGateway, secondGateway } from './support/second-gateway.ts'
import { appWith, as, clientOf, sayIn } from './support/talk.ts'
import { until } from './support/until.ts'

/**
 * Devices are cut off and come back at random while people talk, come, go and are removed. What each of them holds in the
 * end is what a twin was told: a device of the same user at another node, which was there all the time.
 */

const roundsCount = times(10, 100)
const actsPerRound = times(15, 20)
const attachingCount = times(30, 500)
const seedVariable = 'LIVE_SEED'
const uids = ['ada', 'lin', 'max', 'zoe', 'ian', 'eva', 'gus', 'pia']
// Their role and its permissions change.
const guests = ['gus', 'pia']
// Some have one device, some have several: where the last one goes, all that a node knows of a user goes with it.
const devicesOf = [1, 1, 2, 2, 3, 4, 3, 4]
const lanesCount = 4
// Longer than a node keeps what has happened in memory.
const forgottenSeconds = 130

const unlimited = Object.fromEntries(
  settingsList
    .filter(({ variable }) => variable.startsWith('PARLEY_LIMIT_'))
    .map(({ variable }) => [variable, '9999999']),
)

for (const database of databases) {
  describe(`devices that come and go on ${database}`, () => {
    let h: House
    let app: AppClient
    let elsewhere: SecondGateway
    const tokens = new Map<string, string>()
    const clients = new Map<string, Caller>()
    const twins = new Map<string, Device>()

    before(async () => {
      h = await house({ database, environment: unlimited })
      elsewhere = await secondGateway(h)
      app = await appWith(h, ...uids)
      assertSucceeds(await app.post('/roles', { role: 'guest', name: 'Guest' }))
      for (const guid of ['boats', 'trees', 'chess', 'ruled']) {
        const members = { participants: uids.slice(1) }
        assertSucceeds(await app.post('/groups', { guid, name: guid, type: 'public', members }, as('ada')))
      }
      for (const uid of uids) {
        tokens.set(uid, await tokenOf(app, uid))
        clients.set(uid, await clientOf(h, app, uid))
        twins.set(uid, await logIn(elsewhere.openSocket(app), uid, { authToken: tokens.get(uid) }))
      }
    })
    after(async () => {
      elsewhere?.close()
      await h?.close()
    })

    const twinOf = (uid: string) => twins.get(uid) as Device
    const followerOf = (name: string, uid: string) =>
      createFollower(name, uid, (auth) => connect(h, app, uid, { auth, token: tokens.get(uid) ?? '' }))

    /** What nobody has read yet is passed on a moment later. */
    async function assertAlike(followers: Follower[], isRetracted: (id: string) => boolean, what: string) {
      await untilTold(h)
      let wrong: string | undefined
      const areAlike = () => {
        wrong = followers.map((each) => each.differsFrom(twinOf(each.uid), isRetracted)).find((each) => each)
        return wrong === undefined
      }
      await until('all are told', areAlike).catch((error) => {
        throw wrong === undefined ? error : new Error(`${what}: ${wrong}`)
      })
    }

    /** So many lanes of one thing after the other, side by side. */
    const inLanes = (count: number, lane: (n: number) => Promise<void>) =>
      Promise.all(Array.from({ length: count }, (_, n) => lane(n)))

    it(`hold what their twins were told, over ${roundsCount * actsPerRound} operations`, async (test) => {
      const seed = seedFrom(seedVariable)
      test.diagnostic(`${seedVariable}=${seed}`)
      const random = randomFrom(seed)
      const operations = liveOperations(app, random, { uids, guests, client: (uid) => clients.get(uid) as Caller })
      const followers = uids.flatMap((uid, n) =>
        Array.from({ length: devicesOf[n] ?? 1 }, (_, m) => followerOf(`${uid}${m}`, uid)),
      )
      for (const each of followers) await each.come()

      const moveSome = async (lane: number) => {
        for (let n = 0; n < 2; n += 1) {
          const each = random.pick(followers.filter((_, index) => index % lanesCount === lane))
          if (each.isThere() && random.chance(0.6)) each.cut()
          else if (!each.isThere()) await each.come()
        }
      }
      const actSome = async () => {
        for (let n = 0; n < actsPerRound / lanesCount; n += 1) {
          const there = followers.filter((each) => each.isThere())
          const speaker = there.length > 0 && random.chance(0.5) ? random.pick(there) : undefined
          const resource = speaker?.device().welcome.resource
          await operations.act(speaker && { uid: speaker.uid, name: speaker.name, resource })
        }
      }
      for (let round = 0; round < roundsCount; round += 1) {
        if (random.chance(0.08)) await operations.changeSight()
        if (random.chance(0.1)) h.clock.setOffset(h.clock.offsetSeconds() + forgottenSeconds)
        await untilTold(h)
        await inLanes(lanesCount, async (lane) => {
          await Promise.all([moveSome(lane), actSome()])
        })
        await assertAlike(followers, operations.isRetracted, `round ${round}, ${seedVariable}=${seed}`)
      }
      for (const each of followers) if (!each.isThere()) await each.come()
      await assertAlike(followers, operations.isRetracted, `the end, ${seedVariable}=${seed}`)
      for (const each of followers) await each.device().reached()
      await assertAlike(followers, operations.isRetracted, `after the end, ${seedVariable}=${seed}`)
      for (const twin of twins.values()) assertInOrder(twin.frames)
      assertToldToBoth(operations.said)

      const sum = (name: 'resumed' | 'resynced') => followers.reduce((all, each) => all + each[name], 0)
      const told = [...twins.values()].reduce((all, { frames }) => all + frames.length, 0)
      test.diagnostic(`${told} frames to twins; came back: ${sum('resumed')} resumed, ${sum('resynced')} began anew`)
      assert.ok(sum('resumed') > roundsCount / 2, 'hardly any device resumed')
      for (const each of followers) each.cut()
    })

    /** An event comes after those before it, and once. */
    function assertInOrder(frames: Frame[]): void {
      const ids = frames.filter(({ position }) => position).map(({ position }) => Number.parseInt(position, 10))
      for (const [n, id] of ids.entries()) assert.ok(n === 0 || id > (ids[n - 1] ?? 0), `${id} after ${ids[n - 1]}`)
    }

    /** What one says to another is told to both of them, unless somebody's role keeps it back. */
    function assertToldToBoth(said: { text: string; from: string; to: string }[]): void {
      const texts = new Map(
        uids.map((uid) => [uid, new Set(twinOf(uid).frames.map(({ body }) => body?.data?.text as string))]),
      )
      const plain = said.flatMap(({ text, from, to }) => [from, to].map((uid) => ({ text, uid })))
      for (const { text, uid } of plain.filter((each) => !guests.includes(each.uid))) {
        assert.ok(texts.get(uid)?.has(text), `${uid} was not told "${text}"`)
      }
    }

    it(`hear all that is said from the moment that they come, ${attachingCount} at a time`, async () => {
      const hearing = uids.filter((uid) => !guests.includes(uid))
      const guid = `crowded-${attachingCount}`
      const members = { participants: uids.slice(1) }
      assertSucceeds(await app.post('/groups', { guid, name: guid, type: 'public', members }, as('ada')))
      const followers = Array.from({ length: attachingCount }, (_, n) =>
        followerOf(`late${n}`, hearing[n % hearing.length] as string),
      )
      let areIn = false
      const talking = inLanes(3, async (lane) => {
        while (!areIn) await sayIn(app, guid, hearing[lane] as string)
      })
      const waiting = [...followers]
      await inLanes(10, async () => {
        for (let each = waiting.pop(); each; each = waiting.pop()) await each.come()
      }).finally(() => {
        areIn = true
      })
      await talking
      await assertAlike(followers, () => false, 'attaching')
      for (const each of followers) each.cut()
    })
  })
}
