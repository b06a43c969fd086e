import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import {
  type AppClient,
  assertFails,
  assertSucceeds,
  type Caller,
  callerAt,
  type House,
  house,
} from '../../../../tests/support/house.ts'

for (const database of databases) {
  describe(`the emulator on ${database}`, () => {
    let h: House
    let app: AppClient
    let door: Caller

    before(async () => {
      h = await house({ database })
      app = await h.app('a')
      door = callerAt(h.client, app.host, '/_emulator', { apikey: app.apiKey })
    })
    after(() => h.close())

    it('plays the call of the story: rung by video, two devices, a camera that goes off', async () => {
      const call = await app.play({
        initiator: 'nora',
        receiver: 'milo',
        type: 'video',
        steps: [
          { after: 2, do: 'ring', uid: 'milo' },
          { after: 4, do: 'join', uid: 'milo', deviceId: 'phone' },
          { after: 4, do: 'join', uid: 'milo', deviceId: 'laptop' },
          { after: 4, do: 'join', uid: 'nora', deviceId: 'web' },
          { after: 60, do: 'cameraOff', uid: 'milo', deviceId: 'phone' },
          { after: 124, do: 'end' },
        ],
      })
      assert.equal(call.totalParticipants, 3)
      assert.deepEqual([call.totalAudioMinutes, call.totalVideoMinutes], [64 / 60, 2 + 56 / 60 + 2])
    })

    it('plays steps in the order of their time, deadlines in between taking effect', async () => {
      const shuffled = await app.play({
        initiator: 'nora',
        receiver: 'milo',
        steps: [
          { after: 30, do: 'end' },
          { after: 5, do: 'join', uid: 'milo', deviceId: 'd' },
        ],
      })
      assert.equal(shuffled.status, 'ended')
      const late = await door.post('/calls/script', {
        initiator: 'nora',
        receiver: 'milo',
        steps: [{ after: 46, do: 'join', uid: 'milo', deviceId: 'd' }],
      })
      assertFails(late, 409, 'ERR_CALL_TERMINATED')
      assert.match(late.body.error.devMessage, /steps\.0/)
    })

    it('creates the users and groups that a script names', async () => {
      await app.play({
        initiator: 'New-One',
        receiver: 'Crew',
        receiverType: 'group',
        invited: ['other-one'],
        steps: [],
      })
      for (const uid of ['new-one', 'other-one']) assertSucceeds(await app.get('/calls', { onBehalfOf: uid }))
    })

    it('takes a device that vanishes out of the call from that moment', async () => {
      const call = await app.play({
        initiator: 'nora',
        receiver: 'milo',
        steps: [
          { after: 0, do: 'join', uid: 'nora', deviceId: 'a' },
          { after: 1, do: 'join', uid: 'milo', deviceId: 'b' },
          { after: 31, do: 'vanish', uid: 'milo', deviceId: 'b' },
          { after: 600, do: 'leave', uid: 'nora', deviceId: 'a' },
        ],
      })
      assert.equal(call.status, 'ended')
      assert.equal(call.participants[1].totalAudioMinutes, 0.5)
      assert.equal(call.participants[1].leftAt, call.startedAt + 31)
    })

    it('refuses scripts that make no sense, and leaves nothing of them', async () => {
      const total = async () => assertSucceeds(await app.get('/calls')).meta.pagination.total
      const before = await total()
      const base = { initiator: 'nora', receiver: 'milo' }
      const wrong: [object, number, string, string?][] = [
        [{}, 400, 'ERR_BAD_REQUEST', 'initiator'],
        [{ ...base }, 400, 'ERR_BAD_REQUEST', 'steps'],
        [{ ...base, receiver: 'nora', steps: [] }, 403, 'ERR_CALLING_SELF'],
        [{ ...base, steps: [{ after: 1, do: 'sing' }] }, 400, 'ERR_BAD_REQUEST', 'steps.0.do'],
        [{ ...base, steps: [{ after: 1, do: 'join' }] }, 400, 'ERR_BAD_REQUEST', 'steps.0.deviceId'],
        [{ ...base, steps: [{ after: 1, do: 'reject' }] }, 400, 'ERR_BAD_REQUEST', 'steps.0.uid'],
        [{ ...base, steps: [{ after: -1, do: 'end' }] }, 400, 'ERR_BAD_REQUEST', 'steps.0.after'],
        [{ ...base, steps: [{ after: 1, do: 'end' }] }, 409, 'ERR_CALL_NOT_STARTED'],
        [
          { ...base, startAt: h.clock.now(), steps: [{ after: 1000, do: 'cancel' }] },
          400,
          'ERR_BAD_REQUEST',
          'steps.0.after',
        ],
        [{ ...base, steps: [{ after: 1, do: 'join', uid: 'luis', deviceId: 'd' }] }, 403, 'ERR_CALL_NOT_A_PART'],
        [{ ...base, initiator: 'no spaces', steps: [] }, 400, 'ERR_BAD_REQUEST', 'initiator'],
        [{ ...base, initiator: 'app_system', steps: [] }, 400, 'ERR_BAD_REQUEST', 'initiator'],
      ]
      for (const [script, status, code, field] of wrong) {
        const answer = await door.post('/calls/script', script)
        assertFails(answer, status, code)
        if (field) assert.ok(answer.body.error.details[field], answer.text)
      }
      assert.equal(await total(), before)
    })

    it('refuses the 51st device', async () => {
      const steps = Array.from({ length: 51 }, (_, n) => ({ after: n, do: 'join', uid: `user-${n}`, deviceId: 'd' }))
      const script = { initiator: 'user-0', receiver: 'crowd', receiverType: 'group', mode: 'meet', steps }
      assertFails(await door.post('/calls/script', script), 402, 'ERR_PLAN_QUOTA_RESTRICTION')
      const call = await app.play({ ...script, steps: steps.slice(0, 50) })
      assert.equal(call.totalParticipants, 50)
    })

    it('moves the clock, and what falls due has happened when it answers', async () => {
      const other = await h.app('clock')
      const ringing = await other.play({ initiator: 'nora', receiver: 'milo', steps: [] })
      assert.equal(ringing.status, 'initiated')
      const advanced = assertSucceeds(await door.put('/clock', { advance: 60 })).data
      assert.ok(advanced.offsetSeconds >= 60)
      const missed = assertSucceeds(await other.get(`/calls/${ringing.sessionId}`)).data
      assert.equal(missed.status, 'unanswered')
      const target = 1_900_000_000
      assert.ok(assertSucceeds(await door.put('/clock', { now: target })).data.now >= target)
      const future = await other.play({ initiator: 'nora', receiver: 'milo', steps: [{ after: 3, do: 'cancel' }] })
      assert.ok(future.startedAt >= target - 3)
      for (const body of [{}, { now: 1, advance: 1 }, { advance: 'soon' }]) {
        assertFails(await door.put('/clock', body), 400, 'ERR_BAD_REQUEST')
      }
      assert.equal(assertSucceeds(await door.delete('/clock')).data.offsetSeconds, 0)
      assert.equal(assertSucceeds(await door.get('/clock')).data.offsetSeconds, 0)
    })

    it('is closed unless switched on', async () => {
      const closed = await house({ database, environment: { PARLEY_EMULATOR: 'false' } })
      const closedApp = await closed.app('a')
      const shut = callerAt(closed.client, closedApp.host, '/_emulator', { apikey: closedApp.apiKey })
      assertFails(
        await shut.post('/calls/script', { initiator: 'a', receiver: 'b', steps: [] }),
        404,
        'ERR_API_NOT_FOUND',
      )
      assertFails(await shut.put('/clock', { advance: 1 }), 404, 'ERR_API_NOT_FOUND')
      await closed.close()
    })
  })
}
