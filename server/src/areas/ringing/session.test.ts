import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { connect, type Device, type Frame } from '../../../../tests/support/device.ts'
import { type AppClient, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as } from '../../../../tests/support/talk.ts'
import { until } from '../../../../tests/support/until.ts'

for (const database of databases) {
  describe(`devices in calls on ${database}`, () => {
    let h: House
    let app: AppClient
    let ada: Device
    let lin: Device
    let call: string

    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const ring = async (by: string, body: object) =>
      assertSucceeds(await app.post('/calls', body, as(by))).data.data.entities.on.entity.sessionid
    const tokenFor = async (uid: string, sessionId = call) =>
      assertSucceeds(await app.post(`/calls/${sessionId}/token`, {}, as(uid))).data.token
    const says = (device: Device, body: object) => device.ask({ type: 'call_session', body })
    const joins = async (device: Device, more: object = {}) =>
      says(device, { action: 'join', token: await tokenFor(device.uid), ...more })
    /** The code by which a new device is refused; each has only so many chances. */
    const refusal = async (uid: string, body: object): Promise<string> => {
      const device = await connect(h, app, uid)
      const answer = await says(device, body)
      await device.close()
      assert.equal(answer.type, 'error')
      return answer.body.code
    }
    const record = async (sessionId = call) => {
      const sent = await h.client.send(app.callsHost, `/v3/calls/${sessionId}`, { headers: { apikey: app.apiKey } })
      return assertSucceeds(sent).data
    }
    const partOf = async (uid: string) => (await record()).participants.find((each: Frame) => each.uid === uid)
    /** Time passes, in which the devices say that they are there. */
    const pass = async (seconds: number, ...devices: Device[]) => {
      for (let left = seconds; left > 0; left -= 10) {
        h.clock.setOffset(h.clock.offsetSeconds() + Math.min(10, left))
        for (const device of devices)
          assert.equal((await says(device, { action: 'ping', sessionId: call })).type, 'ack')
        await h.service.house.tools.notes.write()
        await h.settle()
      }
    }

    beforeEach(async () => {
      app = await appWith(h, 'ada', 'lin', 'max')
      ada = await connect(h, app, 'ada')
      lin = await connect(h, app, 'lin')
      call = await ring('ada', { receiver: 'lin', receiverType: 'user', type: 'video' })
    })

    it('count from joining to leaving, however long, with the camera on and off', async () => {
      const joined = await joins(lin, { video: true })
      assert.equal(joined.type, 'ack')
      const { session } = joined.body
      assert.deepEqual([session.sessionId, session.type], [call, 'video'])
      assert.deepEqual(
        session.participants.map(({ uid, deviceId }: Frame) => [uid, deviceId]),
        [['lin', lin.welcome.resource]],
      )
      await joins(ada, { video: false })
      await pass(120, ada, lin)
      await says(lin, { action: 'media', sessionId: call, video: false })
      await says(ada, { action: 'media', sessionId: call, video: true })
      await pass(60, ada, lin)
      assert.equal((await says(ada, { action: 'leave', sessionId: call })).type, 'ack')
      const { status, participants, endedAt, initiatedAt } = await record()
      assert.deepEqual([status, endedAt - initiatedAt], ['ended', 180])
      const minutes = participants.map((each: Frame) => [each.uid, each.totalAudioMinutes, each.totalVideoMinutes])
      assert.deepEqual(minutes.toSorted(), [
        ['ada', 2, 1],
        ['lin', 1, 2],
      ])
    })

    it('are those with which somebody has accepted', async () => {
      const authToken = assertSucceeds(await app.post('/users/lin/auth_tokens')).data.authToken
      const headers = { authToken, resource: lin.welcome.resource }
      const accepted = { method: 'PUT', body: { status: 'ongoing' }, headers }
      assertSucceeds(await h.client.send(app.host, `/v3/calls/${call}`, accepted))
      await joins(lin)
      assert.equal((await record()).participants.filter(({ uid }: Frame) => uid === 'lin').length, 1)
      const second = await connect(h, app, 'lin')
      await joins(second)
      assert.equal((await record()).participants.filter(({ uid }: Frame) => uid === 'lin').length, 2)
      await says(lin, { action: 'leave', sessionId: call })
      assert.equal((await record()).status, 'ongoing')
      await second.close()
    })

    it('have left when their page is closed, and when they are not heard of for a lease', async () => {
      await joins(ada)
      await joins(lin)
      await pass(30, ada, lin)
      await lin.close()
      await until('lin has left', async () => (await partOf('lin')).state === 'ended')
      assert.equal((await partOf('lin')).totalDurationInMinutes, 0.5)
      assert.equal((await record()).status, 'ongoing')
      ada.cut()
      await pass(90)
      const over = await record()
      assert.equal(over.status, 'ended')
      assert.equal((await partOf('ada')).totalDurationInMinutes, 0.5)
    })

    it('are known when they come back over another connection, and take back a call that crossed theirs', async () => {
      const crossing = await ring('lin', { receiver: 'ada', receiverType: 'user', type: 'video' })
      await joins(lin)
      await h.settle()
      assert.equal((await record(crossing)).status, 'canceled')
      lin.cut()
      const back = await connect(h, app, 'lin', { auth: { resource: lin.welcome.resource } })
      assert.equal((await says(back, { action: 'ping', sessionId: call })).type, 'ack')
      await back.close()
      await until('lin has left', async () => (await record()).status === 'ended')
    })

    it('send no video where the call has none', async () => {
      call = await ring('max', { receiver: 'lin', receiverType: 'user', type: 'audio' })
      await joins(lin, { video: true })
      await pass(30, lin)
      await says(lin, { action: 'media', sessionId: call, video: true })
      await pass(30, lin)
      assert.deepEqual([(await partOf('lin')).totalVideoMinutes, (await partOf('lin')).totalAudioMinutes], [0, 1])
    })

    it('come in with a token that is theirs and new, and for a call that goes on', async () => {
      const theirs = await tokenFor('lin')
      const [body = ''] = theirs.split('.')
      const forged = `${body}.${Buffer.alloc(32).toString('base64url')}`
      const cases: [string, string | undefined][] = [
        ['ada', theirs],
        ['lin', forged],
        ['lin', 'nonsense'],
        ['lin', ''],
        ['lin', undefined],
        ['lin', `${theirs}.x`],
      ]
      for (const [uid, token] of cases) {
        const code = await refusal(uid, { action: 'join', ...(token !== undefined && { token }) })
        assert.equal(code, 'ERR_BAD_REQUEST', String(token))
      }
      h.clock.setOffset(h.clock.offsetSeconds() + 301)
      assert.equal(await refusal('lin', { action: 'join', token: theirs }), 'ERR_BAD_REQUEST')
      call = await ring('ada', { receiver: 'lin', receiverType: 'user', type: 'video' })
      const late = await tokenFor('lin')
      assertSucceeds(await app.put(`/calls/${call}`, { status: 'cancelled' }, as('ada')))
      assert.equal(await refusal('lin', { action: 'join', token: late }), 'ERR_CALL_TERMINATED')
      for (const action of ['ping', 'media', 'leave', 'sing']) {
        assert.equal(await refusal('lin', { action }), 'ERR_BAD_REQUEST')
      }
      assert.equal(await refusal('lin', { action: 'leave', sessionId: 'none' }), 'ERR_CALL_NOT_A_PART')
    })

    it('of somebody who was removed from the group meanwhile do not come in', async () => {
      const members = { participants: ['lin', 'max'] }
      assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew', members }, as('ada')))
      call = await ring('ada', { receiver: 'crew', receiverType: 'group', type: 'audio' })
      const token = await tokenFor('lin')
      assertSucceeds(await app.delete('/groups/crew/members/lin', undefined, as('ada')))
      assert.equal((await says(lin, { action: 'join', token })).body.code, 'ERR_CALL_NOT_A_PART')
    })

    it('touch no call of others by naming it', async () => {
      await joins(ada)
      await joins(lin)
      const max = await connect(h, app, 'max')
      for (const action of ['ping', 'leave', 'media']) {
        const { body } = await says(max, { action, sessionId: call, video: false })
        assert.equal(body.code, 'ERR_CALL_NOT_A_PART')
      }
      await max.close()
      await h.settle()
      const { status, participants } = await record()
      assert.deepEqual([status, participants.length], ['ongoing', 2])
    })
  })
}
