import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it, mock } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import type { Answer } from '../../../../tests/support/http.ts'
import { type GatedPasswords, gatedPasswords } from '../../../../tests/support/passwords.ts'
import { appWith, as, clientOf } from '../../../../tests/support/talk.ts'

const ofUser = 3
const ofGroup = 5
const hashesOfUser = 6
const hour = 3_600
const lock = { type: 'password', password: 'open sesame' }

for (const database of databases) {
  describe(`guesses at passwords on ${database}`, () => {
    let h: House
    let passwords: GatedPasswords
    // Windows are whole hours of real time; a still clock makes each test begin in a fresh one.
    let now = Math.ceil(Date.now() / 1000 / hour) * hour

    before(async () => {
      mock.timers.enable({ apis: ['Date'], now: now * 1000 })
      passwords = gatedPasswords()
      const environment = {
        PARLEY_LIMIT_GUESSES: String(ofUser),
        PARLEY_LIMIT_GUESSES_AT_GROUP: String(ofGroup),
        PARLEY_LIMIT_PASSWORDS: String(hashesOfUser),
      }
      h = await house({ database, passwords, environment })
    })
    beforeEach(() => later(hour - (now % hour)))
    after(async () => {
      await h.close()
      mock.timers.reset()
    })

    const later = (seconds: number) => {
      now += seconds
      mock.timers.setTime(now * 1000)
    }
    async function withGroups(uids: string[], ...guids: string[]): Promise<AppClient> {
      const app = await appWith(h, 'ada', ...uids)
      for (const guid of guids) assertSucceeds(await app.post('/groups', { guid, name: guid, ...lock }, as('ada')))
      return app
    }
    const join = async (app: AppClient, uid: string, password: string, guid = 'g') =>
      (await clientOf(h, app, uid)).post(`/groups/${guid}/join`, { password })
    async function guessWrong(app: AppClient, uid: string, times: number, guid = 'g'): Promise<void> {
      for (let n = 0; n < times; n += 1) assertFails(await join(app, uid, 'x', guid), 403, 'ERR_WRONG_GROUP_PASS')
    }
    /** Refused before anything is hashed, with the headers that tell until when. */
    async function assertLimited(limit: number, seconds: number, request: () => Promise<Answer>): Promise<void> {
      const count = passwords.count()
      const answer = await request()
      assertFails(answer, 429, 'ERR_TOO_MANY_REQUESTS')
      const { headers } = answer
      assert.deepEqual(
        [headers['x-rate-limit'], headers['x-rate-limit-remaining'], headers['retry-after']],
        [String(limit), '0', String(seconds)],
      )
      assert.equal(answer.body.error.details.retryAfter, seconds)
      assert.equal(passwords.count(), count)
    }

    it('end after some of a user at a group, until the next hour', async () => {
      const app = await withGroups(['out', 'max'], 'g', 'other')
      await guessWrong(app, 'out', ofUser)
      later(100)
      await assertLimited(ofUser, hour - 100, () => join(app, 'out', 'open sesame'))
      assertSucceeds(await join(app, 'out', 'open sesame', 'other'))
      assertSucceeds(await join(app, 'max', 'open sesame'))
      later(hour - 100)
      assertSucceeds(await join(app, 'out', 'open sesame'))
    })

    it('are not counted when they are right', async () => {
      const app = await withGroups(['out'], 'g')
      const out = await clientOf(h, app, 'out')
      for (let n = 0; n <= ofGroup; n += 1) {
        assertSucceeds(await join(app, 'out', 'open sesame'))
        assertSucceeds(await out.post('/groups/g/leave'))
      }
      later(60)
      await guessWrong(app, 'out', ofUser)
      await assertLimited(ofUser, hour - 60, () => join(app, 'out', 'open sesame'))
    })

    it('are counted together, whichever path they come by', async () => {
      const app = await withGroups(['out'], 'g')
      const out = await clientOf(h, app, 'out')
      const joinAsMember = (password: string) => out.post('/groups/g/members', { participants: ['out'], password })
      await guessWrong(app, 'out', ofUser - 1)
      assertFails(await joinAsMember('x'), 403, 'ERR_WRONG_GROUP_PASS')
      await assertLimited(ofUser, hour, () => joinAsMember('open sesame'))
      await assertLimited(ofUser, hour, () => join(app, 'out', 'open sesame'))
      later(hour)
      assertSucceeds(await joinAsMember('open sesame'))
    })

    it('of many at one group end too, and still keep out nobody who knows the password', async () => {
      const app = await withGroups(['a', 'b', 'c', 'd', 'e'], 'g', 'other')
      await guessWrong(app, 'a', ofUser)
      await guessWrong(app, 'b', ofGroup - ofUser)
      await assertLimited(ofGroup, hour, () => join(app, 'b', 'x'))
      // The first try of everyone is let through.
      assertSucceeds(await join(app, 'c', 'open sesame'))
      await guessWrong(app, 'd', 1)
      await assertLimited(ofGroup, hour, () => join(app, 'd', 'open sesame'))
      assertSucceeds(await join(app, 'd', 'open sesame', 'other'))
      // Nor does it touch those who are in, or whoever an admin adds.
      const ada = await clientOf(h, app, 'ada')
      assertSucceeds(await ada.get('/groups/g/members'))
      assertSucceeds(await ada.post('/groups/g/members', { participants: ['d'] }))
      later(hour)
      assertSucceeds(await join(app, 'b', 'open sesame'))
    })

    it('and groups that a user makes share a number of hashes a minute', async () => {
      const app = await withGroups(['out', 'max'], 'g1', 'g2')
      const [out, max] = [await clientOf(h, app, 'out'), await clientOf(h, app, 'max')]
      await guessWrong(app, 'out', ofUser, 'g1')
      for (const guid of ['made1', 'made2', 'made3']) {
        assertSucceeds(await out.post('/groups', { guid, name: guid, ...lock }))
      }
      const made = { guid: 'made4', name: 'made4', ...lock }
      await assertLimited(hashesOfUser, 60, () => out.post('/groups', made))
      await assertLimited(hashesOfUser, 60, () => join(app, 'out', 'open sesame', 'g2'))
      // Who makes no password waits for none, nor does anybody else, nor the app for its users.
      assertSucceeds(await out.post('/groups', { guid: 'open', name: 'Open' }))
      assertSucceeds(await max.post('/groups', { ...made, guid: 'of-max' }))
      for (let n = 0; n <= hashesOfUser; n += 1) {
        assertSucceeds(await app.post('/groups', { ...made, guid: `by-app${n}` }, as('out')))
      }
      later(60)
      assertSucceeds(await out.post('/groups', made))
    })
  })
}
