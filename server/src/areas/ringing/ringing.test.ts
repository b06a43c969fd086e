import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { connect, type Device, type Frame } from '../../../../tests/support/device.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import type { Answer } from '../../../../tests/support/http.ts'
import { appWith, as } from '../../../../tests/support/talk.ts'
import { until } from '../../../../tests/support/until.ts'

const people = ['ada', 'lin', 'max', 'kim', 'zoe']

for (const database of databases) {
  describe(`ringing on ${database}`, () => {
    let h: House
    let app: AppClient

    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())
    beforeEach(async () => {
      app = await appWith(h, ...people)
      const members = { participants: ['lin', 'max'] }
      assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew', type: 'public', members }, as('ada')))
    })

    const toLin = { receiver: 'lin', receiverType: 'user', type: 'video' }
    const toCrew = { receiver: 'crew', receiverType: 'group', type: 'audio' }
    const sessionOf = ({ body }: Answer): string => body.data.data.entities.on.entity.sessionid
    const ring = async (by: string, body: object) => {
      const answer = await app.post('/calls', body, as(by))
      assertSucceeds(answer)
      return sessionOf(answer)
    }
    const set = (by: string, sessionId: string, status: string) => app.put(`/calls/${sessionId}`, { status }, as(by))
    const recordOf = async (sessionId: string) => {
      const { body } = await h.client.send(app.callsHost, `/v3/calls/${sessionId}`, { headers: { apikey: app.apiKey } })
      return body.data
    }
    const actionsIn = async (by: string, path: string): Promise<string[]> => {
      const { data } = assertSucceeds(await app.get(`${path}?limit=50`, as(by)))
      return data
        .filter(({ category }: { category: string }) => category === 'call')
        .map(({ sender, data: { action } }: Frame) => `${sender} ${action}`)
    }
    const between = (uid: string, other: string) => actionsIn(uid, `/users/${other}/messages`)

    it('answers a call message with the call, the two and what was sent along', async () => {
      const { data } = assertSucceeds(
        await app.post('/calls', { ...toLin, metadata: { ticket: 7 }, timeout: 20 }, as('ada')),
      )
      assert.equal(data.category, 'call')
      assert.equal(data.type, 'video')
      assert.equal(data.sender, 'ada')
      assert.equal(data.receiver, 'lin')
      const { action, entities, metadata } = data.data
      assert.equal(action, 'initiated')
      assert.deepEqual(metadata, { ticket: 7 })
      assert.equal(entities.by.entity.uid, 'ada')
      assert.equal(entities.for.entity.uid, 'lin')
      assert.equal(entities.for.entity.conversationId, 'ada_user_lin')
      const { entity, entityType } = entities.on
      assert.equal(entityType, 'call')
      assert.match(entity.sessionid, new RegExp(`^v1\\.${app.region}\\.${app.id}\\.\\d{10}[0-9a-f]{40}$`))
      assert.deepEqual(
        [entity.status, entity.type, entity.sender, entity.receiver, entity.receiverType, entity.conversationId],
        ['initiated', 'video', 'ada', 'lin', 'user', 'ada_user_lin'],
      )
      assert.equal(entity.initiatedAt, data.sentAt)
      assert.deepEqual(entity.data.metadata, { ticket: 7 })
      const call = await recordOf(entity.sessionid)
      assert.deepEqual([call.status, call.mode, call.initiator, call.receiver], ['initiated', 'call', 'ada', 'lin'])
      assert.deepEqual(call.metaData, { ticket: 7 })
    })

    it('goes from ringing to talking to the end, each step a message', async () => {
      const call = await ring('ada', toLin)
      assert.equal(assertSucceeds(await set('lin', call, 'ongoing')).data.data.action, 'ongoing')
      const going = await recordOf(call)
      assert.equal(going.status, 'ongoing')
      const lin = going.participants.find(({ uid }: Frame) => uid === 'lin')
      assert.deepEqual([lin.isJoined, lin.state, lin.deviceId], [true, 'ongoing', 'rest'])
      h.clock.setOffset(h.clock.offsetSeconds() + 30)
      const ended = assertSucceeds(await set('ada', call, 'ended')).data
      assert.equal(ended.data.action, 'ended')
      assert.equal(ended.sender, 'ada')
      assert.equal(ended.data.entities.on.entity.endedAt, going.initiatedAt + 30)
      const over = await recordOf(call)
      assert.deepEqual([over.status, over.totalVideoMinutes], ['ended', 0.5])
      assert.deepEqual(await between('ada', 'lin'), ['ada initiated', 'lin ongoing', 'ada ended'])
    })

    const endings = [
      ['lin', 'rejected', 'rejected', 'lin rejected'],
      ['lin', 'busy', 'rejected', 'lin busy'],
      ['ada', 'cancelled', 'canceled', 'ada cancelled'],
      ['ada', 'canceled', 'canceled', 'ada cancelled'],
    ] as const
    for (const [by, status, record, message] of endings) {
      it(`${by} sets ${status}: the record is ${record}, and nothing follows`, async () => {
        const call = await ring('ada', toLin)
        assertSucceeds(await set(by, call, status))
        assert.equal((await recordOf(call)).status, record)
        assert.equal((await between('lin', 'ada')).at(-1), message)
        for (const [uid, next] of [
          ['lin', 'ongoing'],
          ['lin', 'rejected'],
          ['ada', 'cancelled'],
          ['ada', 'ended'],
        ] as const) {
          assertFails(await set(uid, call, next), 409, 'ERR_CALL_TERMINATED')
        }
        assertFails(await app.post(`/calls/${call}/token`, {}, as('ada')), 409, 'ERR_CALL_TERMINATED')
      })
    }

    it('rings as long as the caller has said, or the install', async () => {
      const short = await ring('ada', { ...toLin, timeout: 10 })
      const usual = await ring('max', { ...toLin, receiver: 'kim' })
      h.clock.setOffset(h.clock.offsetSeconds() + 10)
      await h.settle()
      assert.equal((await recordOf(short)).status, 'unanswered')
      assert.equal((await between('lin', 'ada')).at(-1), 'ada unanswered')
      assert.equal((await recordOf(usual)).status, 'initiated')
      h.clock.setOffset(h.clock.offsetSeconds() + 34)
      await h.settle()
      assert.equal((await recordOf(usual)).status, 'initiated')
      h.clock.setOffset(h.clock.offsetSeconds() + 1)
      await h.settle()
      assert.equal((await recordOf(usual)).status, 'unanswered')
      assertFails(await set('lin', short, 'ongoing'), 409, 'ERR_CALL_TERMINATED')
    })

    it('refuses whoever is on the wrong side, or on none', async () => {
      const call = await ring('ada', toLin)
      for (const [uid, status] of [
        ['ada', 'ongoing'],
        ['ada', 'rejected'],
        ['lin', 'cancelled'],
        ['max', 'ongoing'],
        ['max', 'rejected'],
        ['max', 'ended'],
      ] as const) {
        assertFails(await set(uid, call, status), 403, 'ERR_CALL_NOT_A_PART')
      }
      assertFails(await app.post(`/calls/${call}/token`, {}, as('max')), 403, 'ERR_CALL_NOT_A_PART')
      assertFails(await set('ada', call, 'ended'), 409, 'ERR_CALL_NOT_STARTED')
      assertFails(await set('ada', call, 'initiated'), 409, 'ERR_CALL_INVALID_INIT')
      for (const status of ['unanswered', 'sing', '', 'constructor']) {
        assertFails(await set('lin', call, status), 400, 'ERR_BAD_REQUEST')
      }
      assertFails(await set('lin', 'v1.nothing', 'ongoing'), 404, 'ERR_CALL_SESSION_NOT_FOUND')
      assert.equal((await recordOf(call)).status, 'initiated')
      assertSucceeds(await set('lin', call, 'ongoing'))
      assertFails(await set('lin', call, 'ongoing'), 409, 'ERR_CALL_USER_ALREADY_JOINED')
      assertFails(await set('lin', call, 'rejected'), 409, 'ERR_CALL_ONGOING_TO_INVALID')
      assertFails(await set('ada', call, 'cancelled'), 409, 'ERR_CALL_ONGOING_TO_INVALID')
    })

    it('refuses calls that make no sense, and leaves nothing of them', async () => {
      const wrong: [object, number, string][] = [
        [{}, 400, 'ERR_BAD_REQUEST'],
        [{ ...toLin, type: 'hologram' }, 400, 'ERR_BAD_REQUEST'],
        [{ ...toLin, receiverType: 'robot' }, 400, 'ERR_BAD_REQUEST'],
        [{ ...toLin, timeout: 9 }, 400, 'ERR_BAD_REQUEST'],
        [{ ...toLin, timeout: 181 }, 400, 'ERR_BAD_REQUEST'],
        [{ ...toLin, metadata: 'x' }, 400, 'ERR_BAD_REQUEST'],
        [{ ...toLin, metadata: { long: 'x'.repeat(10_000) } }, 400, 'ERR_BAD_REQUEST'],
        [{ ...toLin, receiver: 'ada' }, 403, 'ERR_CALLING_SELF'],
        [{ ...toLin, receiver: 'nobody' }, 404, 'ERR_UID_NOT_FOUND'],
        [{ ...toCrew, receiver: 'nowhere' }, 404, 'ERR_GUID_NOT_FOUND'],
      ]
      for (const [body, status, code] of wrong) assertFails(await app.post('/calls', body, as('ada')), status, code)
      assertFails(await app.post('/calls', toCrew, as('zoe')), 403, 'ERR_GROUP_NOT_JOINED')
      const { body } = await h.client.send(app.callsHost, '/v3/calls', { headers: { apikey: app.apiKey } })
      assert.equal(body.meta.pagination.total, 0)
      assert.deepEqual(await between('ada', 'lin'), [])
    })

    it('lets nobody call across a block, in either direction', async () => {
      assertSucceeds(await app.post('/users/lin/blockedusers', { blockedUids: ['ada'] }))
      assertFails(await app.post('/calls', toLin, as('ada')), 403, 'ERR_BLOCKED_SENDER')
      assertFails(await app.post('/calls', { ...toLin, receiver: 'ada' }, as('lin')), 403, 'ERR_BLOCKED_RECEIVER')
    })

    it('tells who is busy: in a call, not while it rings', async () => {
      const first = await ring('ada', toLin)
      const second = await ring('max', toLin)
      assertSucceeds(await set('lin', first, 'ongoing'))
      assertFails(await app.post('/calls', toLin, as('kim')), 409, 'ERR_CALL_BUSY_USER')
      assertFails(await app.post('/calls', { ...toLin, receiver: 'kim' }, as('lin')), 409, 'ERR_CALL_BUSY_SELF')
      assertSucceeds(await set('lin', second, 'busy'))
      assertSucceeds(await set('lin', first, 'ended'))
      await ring('kim', toLin)
    })

    it('takes nobody for busy of whom nothing was heard for a lease', async () => {
      const call = await ring('ada', toLin)
      assertSucceeds(await set('lin', call, 'ongoing'))
      h.clock.setOffset(h.clock.offsetSeconds() + 61)
      await ring('kim', toLin)
    })

    it('takes the other call back when two ring each other and one answers', async () => {
      const adas = await ring('ada', toLin)
      const lins = await ring('lin', { ...toLin, receiver: 'ada' })
      assertSucceeds(await set('ada', lins, 'ongoing'))
      await h.settle()
      assert.equal((await recordOf(lins)).status, 'ongoing')
      assert.equal((await recordOf(adas)).status, 'canceled')
    })

    it('has one outcome, whatever crosses', async () => {
      const races: [string, string][][] = [
        [
          ['lin', 'ongoing'],
          ['ada', 'cancelled'],
        ],
        [
          ['lin', 'ongoing'],
          ['lin', 'rejected'],
        ],
        [
          ['lin', 'ongoing'],
          ['lin', 'ongoing'],
        ],
        [
          ['lin', 'rejected'],
          ['ada', 'cancelled'],
          ['lin', 'busy'],
        ],
      ]
      for (const race of races) {
        const call = await ring('ada', toLin)
        const answers = await Promise.all(race.map(([uid, status]) => set(uid, call, status)))
        const won = answers.filter(({ status }) => status === 200)
        assert.equal(won.length, 1, answers.map(({ text }) => text).join('\n'))
        for (const { status } of answers) assert.ok(status === 200 || status === 409)
        const { status } = await recordOf(call)
        const [action] = won.map(({ body }) => body.data.data.action)
        assert.equal(
          status,
          { ongoing: 'ongoing', cancelled: 'canceled', rejected: 'rejected', busy: 'rejected' }[action as string],
        )
        if (status === 'ongoing') assertSucceeds(await set('ada', call, 'ended'))
      }
    })

    it('rings a group: the first who accepts begins it, others join, the last who leaves ends it', async () => {
      const call = await ring('ada', toCrew)
      const rung = await recordOf(call)
      assert.deepEqual(rung.participants.map(({ uid }: Frame) => uid).toSorted(), ['ada', 'lin', 'max'])
      assertFails(await set('ada', call, 'ongoing'), 403, 'ERR_CALL_NOT_A_PART')
      assertFails(await set('zoe', call, 'ongoing'), 403, 'ERR_CALL_NOT_A_PART')
      assertFails(await set('lin', call, 'busy'), 400, 'ERR_CALL_GROUP_INVALID_STATUS')
      assertSucceeds(await set('lin', call, 'ongoing'))
      assertFails(await set('lin', call, 'ongoing'), 409, 'ERR_CALL_GROUP_ALREADY_JOINED')
      assertFails(await app.post('/calls', toCrew, as('max')), 409, 'ERR_CALL_BUSY_GROUP')
      assertSucceeds(await set('ada', call, 'ongoing'))
      assertSucceeds(await set('max', call, 'ongoing'))
      assert.equal(assertSucceeds(await set('lin', call, 'ended')).data.data.action, 'ongoing')
      assertFails(await set('lin', call, 'ended'), 409, 'ERR_CALL_GROUP_ALREADY_LEFT')
      assert.equal((await recordOf(call)).status, 'ongoing')
      assertSucceeds(await set('ada', call, 'ended'))
      assert.equal(assertSucceeds(await set('max', call, 'ended')).data.data.action, 'ended')
      assert.equal((await recordOf(call)).status, 'ended')
      assert.deepEqual(await actionsIn('ada', '/groups/crew/messages'), [
        'ada initiated',
        'lin ongoing',
        'max ongoing',
        'max ended',
      ])
    })

    it('ends the ring of a group when everybody has declined', async () => {
      const call = await ring('ada', toCrew)
      assertSucceeds(await set('lin', call, 'rejected'))
      assertSucceeds(await set('lin', call, 'rejected'))
      assert.equal((await recordOf(call)).status, 'initiated')
      const last = assertSucceeds(await set('max', call, 'rejected')).data
      assert.equal((await recordOf(call)).status, 'rejected')
      assert.equal(typeof last.data.entities.on.entity.endedAt, 'number')
    })

    describe('live', () => {
      let devices: Record<string, Device>
      const heard = (name: string): string[] =>
        (devices[name] as Device).frames
          .filter(({ type, body }: Frame) => type === 'message' && body.category === 'call')
          .map(({ body }: Frame) => `${body.sender} ${body.data.action}`)
      /** What was committed is told a moment later. */
      const hears = (name: string, expected: string[]) =>
        until(`${name} hears ${expected}`, () => heard(name).join() === expected.join())
      const tokens = new Map<string, string>()
      /** With the user's own token, naming the device. */
      const acts = (name: string, method: string, path: string, body: object) => {
        const { uid, welcome } = devices[name] as Device
        const headers = { authToken: tokens.get(uid) ?? '', resource: welcome.resource }
        return h.client.send(app.host, `/v3${path}`, { method, body, headers })
      }

      beforeEach(async () => {
        devices = {}
        for (const name of ['ada-1', 'ada-2', 'lin-1', 'lin-2', 'max', 'zoe']) {
          const [uid = ''] = name.split('-')
          const { data } = assertSucceeds(await app.post(`/users/${uid}/auth_tokens`))
          tokens.set(uid, data.authToken)
          devices[name] = await connect(h, app, uid, { token: data.authToken })
        }
      })
      const close = () => Promise.all(Object.values(devices).map((device) => device.close()))

      it('rings every device of the called, stops on the others when one answers, and tells nobody else', async () => {
        const placed = await acts('ada-1', 'POST', '/calls', toLin)
        const call = sessionOf(placed)
        assert.equal(placed.body.data.data.resource, devices['ada-1']?.welcome.resource)
        assertSucceeds(await acts('lin-1', 'PUT', `/calls/${call}`, { status: 'ongoing' }))
        const { participants } = await recordOf(call)
        assert.equal(participants.find(({ uid }: Frame) => uid === 'lin').deviceId, devices['lin-1']?.welcome.resource)
        assertFails(
          await acts('lin-2', 'PUT', `/calls/${call}`, { status: 'ongoing' }),
          409,
          'ERR_CALL_USER_ALREADY_JOINED',
        )
        assertSucceeds(await acts('ada-1', 'PUT', `/calls/${call}`, { status: 'ended' }))
        await hears('ada-1', ['lin ongoing'])
        await hears('ada-2', ['ada initiated', 'lin ongoing', 'ada ended'])
        await hears('lin-1', ['ada initiated', 'ada ended'])
        await hears('lin-2', ['ada initiated', 'lin ongoing', 'ada ended'])
        assert.deepEqual(heard('max'), [])
        await close()
      })

      it('tells both sides when nobody answers, and the members of a group', async () => {
        await ring('ada', toLin)
        await ring('max', toCrew)
        h.clock.setOffset(h.clock.offsetSeconds() + 46)
        await h.settle()
        const all = ['ada initiated', 'ada unanswered', 'max initiated', 'max unanswered']
        await until('all is heard', () => heard('lin-2').toSorted().join() === all.join())
        assert.deepEqual(heard('zoe'), [])
        await close()
      })
    })

    it('ends with one of the two, and can be changed by the other without a fault', async () => {
      const ringing = await ring('ada', toLin)
      const talking = await ring('max', { ...toLin, receiver: 'kim' })
      assertSucceeds(await set('kim', talking, 'ongoing'))
      assertSucceeds(await app.delete('/users/ada', { permanent: true }))
      assertFails(await set('lin', ringing, 'ongoing'), 409, 'ERR_CALL_TERMINATED')
      assertSucceeds(await app.delete('/users', { uidsToDeactivate: ['kim'] }))
      await h.settle()
      assert.deepEqual([(await recordOf(ringing)).status, (await recordOf(talking)).status], ['canceled', 'ended'])
      assertFails(await set('max', talking, 'ended'), 409, 'ERR_CALL_TERMINATED')
    })

    it('belongs to the group that was called, and to no later one of its GUID', async () => {
      const call = await ring('ada', toCrew)
      assertSucceeds(await app.delete('/groups/crew'))
      const members = { participants: ['kim'] }
      assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew', type: 'private', members }, as('zoe')))
      assertFails(await set('kim', call, 'ongoing'), 403, 'ERR_CALL_NOT_A_PART')
      await h.settle()
      assert.deepEqual(await actionsIn('kim', '/groups/crew/messages'), [])
    })

    it('has room for others, with however many devices somebody comes', async () => {
      const call = await ring('ada', toCrew)
      const { authToken } = assertSucceeds(await app.post('/users/lin/auth_tokens')).data
      const join = (resource: string) =>
        h.client.send(app.host, `/v3/calls/${call}`, {
          ...{ method: 'PUT', body: { status: 'ongoing' }, headers: { authToken, resource } },
        })
      for (let n = 0; n < 10; n += 1) assertSucceeds(await join(`device-${n}`))
      assertFails(await join('device-10'), 402, 'ERR_PLAN_QUOTA_RESTRICTION')
      assertSucceeds(await set('max', call, 'ongoing'))
      assertFails(await set('ada', call, 'rejected'), 409, 'ERR_CALL_ONGOING_TO_INVALID')
    })

    it('gives a token to those who have a part in it', async () => {
      const call = await ring('ada', toLin)
      for (const uid of ['ada', 'lin']) {
        assert.match(assertSucceeds(await app.post(`/calls/${call}/token`, {}, as(uid))).data.token, /^[\w-]+\.[\w-]+$/)
      }
      const group = await ring('max', toCrew)
      assertSucceeds(await app.post(`/calls/${group}/token`, {}, as('lin')))
      assertFails(await app.post(`/calls/${group}/token`, {}, as('zoe')), 403, 'ERR_CALL_NOT_A_PART')
    })
  })
}
