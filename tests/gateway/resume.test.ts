import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { authTokenUpdated } from '../../server/src/areas/auth-tokens/events.ts'
import { workIn } from '../../server/src/common/work-in.ts'
import { databases } from '../support/databases.ts'
import {
  attachDevice,
  connect,
  type Device,
  type Frame,
  openSocket,
  tokenOf,
  untilAllHeard,
  untilTold,
} from '../support/device.ts'
import { type AppClient, assertSucceeds, type House, house } from '../support/house.ts'
import { appWith, as, say, sayIn } from '../support/talk.ts'
import { until } from '../support/until.ts'

/**
 * A device that comes back is told exactly what it would have been told, or that it has to fetch. What was missed lately is
 * told from memory, what was missed earlier from the log; both tell the same.
 */

const memorySeconds = 120
const daySeconds = 86_400
const missedMax = 10_000

const kindOf = ({ type, body }: Frame): string =>
  type === 'message' ? (body.data.action ?? body.data.text) : [type, body?.action].filter(Boolean).join(' ')
const kinds = (frames: Frame[]) => frames.slice(1).map(kindOf)

for (const database of databases) {
  describe(`a device that comes back on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database, livePatience: { aheadMilliseconds: 50 } })
      app = await appWith(h, 'ada', 'mia')
      assertSucceeds(await app.post('/roles', { role: 'guest', name: 'Guest' }))
    })
    after(() => h.close())

    /** Somebody new, in a group with ada and mia, on one device. */
    async function somebody(): Promise<{ device: Device; uid: string; guid: string; token: string }> {
      const uid = `u-${randomUUID().slice(0, 8)}`
      const guid = `g-${uid}`
      assertSucceeds(await app.post('/users', { uid, name: uid }))
      const group = { guid, name: guid, type: 'public', members: { participants: ['mia', uid] } }
      assertSucceeds(await app.post('/groups', group, as('ada')))
      const token = await tokenOf(app, uid)
      return { uid, guid, token, device: await connect(h, app, uid, { token }) }
    }

    const isThere = (device: Device) =>
      until(`${device.uid} is there`, () => device.frames.some(({ type }) => type === 'caught_up'))

    async function comeBack(device: Device, token: string, auth: object = {}): Promise<Device> {
      const { resource } = device.welcome
      const back = await connect(h, app, device.uid, {
        token,
        auth: { position: device.position(), resource, ...auth },
      })
      await isThere(back)
      return back
    }

    /** Lets memory forget all that has happened so far. */
    async function forget(): Promise<void> {
      h.clock.setOffset(h.clock.offsetSeconds() + memorySeconds + 1)
      await say(app, 'ada', 'mia')
      await untilTold(h)
    }

    async function fetchesAnew(device: Device, token: string, auth: object = {}): Promise<void> {
      // Whoever comes back before the node has heard of it has missed nothing, and hears of it live.
      await untilTold(h)
      const back = await comeBack(device, token, auth)
      assert.deepEqual([back.welcome.resumed, kinds(back.frames)], [false, ['caught_up']])
      await say(app, 'ada', device.uid, 'From now on')
      await until('it hears what happens now', () => kinds(back.frames).includes('From now on'))
      await back.close()
    }

    it('goes on where it was, also if its user goes by another name meanwhile', async () => {
      const { uid, device, token } = await somebody()
      device.cut()
      assertSucceeds(await app.put(`/users/${uid}`, { name: 'Renamed' }))
      await say(app, 'ada', uid, 'Hello')
      await untilTold(h)
      const back = await comeBack(device, token)
      assert.deepEqual([back.welcome.resumed, kinds(back.frames)], [true, ['user updated', 'Hello', 'caught_up']])
      await back.close()
    })

    for (const { from, pass } of [
      { from: 'memory', pass: async () => {} },
      { from: 'the log', pass: forget },
    ]) {
      it(`is told all that it missed, once and in order, from ${from}`, async () => {
        const { uid, guid, device, token } = await somebody()
        const twin = await connect(h, app, uid, { token })
        await say(app, 'ada', uid, 'Zero')
        await untilAllHeard(app, [device, twin])
        device.cut()
        const before = twin.frames.length
        await say(app, 'ada', uid, 'One')
        const { id } = await sayIn(app, guid, 'ada', 'Two')
        assertSucceeds(await app.post(`/messages/${id}/reactions/wave`, {}, as('mia')))
        assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'Three' } }, as('ada')))
        assertSucceeds(await app.post(`/groups/${guid}/conversation/read`, {}, as(uid)))
        const newcomers = { guid: `${guid}-new`, name: 'New', members: { participants: [uid] } }
        assertSucceeds(await app.post('/groups', newcomers, as('ada')))
        await sayIn(app, newcomers.guid, 'ada', 'Four')
        await pass()
        await untilAllHeard(app, [twin])
        const missed = twin.frames.slice(before)
        const backs = [await comeBack(device, token), await comeBack(device, token)]
        for (const back of backs) {
          assert.equal(back.welcome.resumed, true)
          assert.deepEqual(back.frames.slice(1), [...missed, { type: 'caught_up' }])
        }
        const [, back] = backs as [Device, Device]
        assert.deepEqual([(await backs[0]?.closed)?.code, back.welcome.resource], [4409, device.welcome.resource])
        const middle = missed[3]?.position
        assert.deepEqual((await comeBack(back, token, { position: middle })).frames.slice(1, -1), missed.slice(4))
        await twin.close()
      })

      it(`is told of being kicked, and of nothing after it, from ${from}`, async () => {
        const { uid, guid, device, token } = await somebody()
        device.cut()
        await sayIn(app, guid, 'ada', 'One')
        assertSucceeds(await app.delete(`/groups/${guid}/members/${uid}`, undefined, as('ada')))
        await sayIn(app, guid, 'ada', 'Two')
        await pass()
        const back = await comeBack(device, token)
        assert.equal(back.welcome.resumed, true)
        assert.deepEqual(kinds(back.frames), ['One', 'kicked', 'caught_up'])
        await sayIn(app, guid, 'ada', 'Three')
        await untilAllHeard(app, [back])
        assert.deepEqual(kinds(back.frames).slice(3).length, 1)
        await back.close()
      })

      it(`hears nothing of a group that it was banned from without having been in it, from ${from}`, async () => {
        const { uid, device, token } = await somebody()
        const { guid } = await somebody()
        device.cut()
        await sayIn(app, guid, 'ada', 'Among themselves')
        assertSucceeds(await app.post(`/groups/${guid}/members`, { usersToBan: [uid] }, as('ada')))
        await pass()
        const back = await comeBack(device, token)
        assert.deepEqual([back.welcome.resumed, kinds(back.frames)], [true, ['banned', 'caught_up']])
        await back.close()
      })

      it(`is not told what was deleted meanwhile, only that it was, from ${from}`, async () => {
        const { uid, guid, device, token } = await somebody()
        const { id: early } = await sayIn(app, guid, 'ada', 'Early')
        await untilAllHeard(app, [device])
        device.cut()
        assertSucceeds(await app.put(`/messages/${early}`, { data: { text: 'Secret edit' } }, as('ada')))
        const { id } = await sayIn(app, guid, 'ada', 'Secret text')
        const { id: purged } = await say(app, 'ada', uid, 'Secret for good')
        assertSucceeds(await app.post(`/messages/${id}/reactions/wave`, {}, as('mia')))
        assertSucceeds(await app.post(`/messages/${id}/pin`, {}, as('ada')))
        await sayIn(app, guid, 'mia', 'Kept', { quotedMessageId: id })
        await sayIn(app, guid, 'mia', 'Kept reply', { parentId: id })
        for (const each of [early, id]) assertSucceeds(await app.delete(`/messages/${each}`, {}, as('ada')))
        assertSucceeds(await app.delete(`/messages/${purged}`, { permanent: true }))
        await pass()
        const back = await comeBack(device, token)
        assert.equal(back.welcome.resumed, true)
        const told = kinds(back.frames).filter((kind) => !kind.startsWith('receipts'))
        assert.deepEqual(told, ['Kept', 'Kept reply', 'deleted', 'deleted', 'deleted', 'caught_up'])
        assert.doesNotMatch(JSON.stringify(back.frames), /Secret/)
        await back.close()
      })

      it(`is not told its own words, from ${from}`, async () => {
        const { uid, device, token } = await somebody()
        const { resource } = device.welcome
        device.cut()
        await say(app, uid, 'ada', 'Mine', { data: { text: 'Mine', resource } })
        await say(app, uid, 'ada', 'Of another device', { data: { text: 'Of another device', resource: 'another' } })
        await pass()
        const back = await comeBack(device, token)
        assert.deepEqual(kinds(back.frames), ['Of another device', 'caught_up'])
        await back.close()
      })
    }

    it('is told nothing where it missed nothing', async () => {
      const { device, token } = await somebody()
      device.cut()
      const back = await comeBack(device, token)
      assert.deepEqual([back.welcome.resumed, kinds(back.frames)], [true, ['caught_up']])
      await back.close()
    })

    it('misses nothing of what is said while it comes back', async () => {
      const { uid, guid, device, token } = await somebody()
      device.cut()
      const words = Array.from({ length: 40 }, (_, n) => `${n}`)
      const saying = Promise.all(words.map((word) => sayIn(app, guid, 'ada', word)))
      const first = await comeBack(device, token)
      first.cut()
      const second = await comeBack(first, token)
      await saying
      await untilAllHeard(app, [second])
      const heard = [...first.frames.slice(1), ...second.frames.slice(1)].filter(({ body }) => body?.receiver === guid)
      assert.deepEqual(heard.map(kindOf).toSorted(), words.toSorted(), uid)
      const ids = heard.map(({ body }) => Number(body.id))
      assert.deepEqual(
        ids,
        ids.toSorted((a, b) => a - b),
      )
      await second.close()
    })

    it('comes back once, where two connections continue it at the same time', async () => {
      const { uid, device, token } = await somebody()
      device.cut()
      await say(app, 'ada', uid, 'One')
      const auth = { position: device.position(), resource: device.welcome.resource }
      const both = await Promise.all([connect(h, app, uid, { token, auth }), connect(h, app, uid, { token, auth })])
      const { code } = await Promise.race(both.map(({ closed }) => closed))
      assert.equal(code, 4409)
      await say(app, 'ada', uid, 'Two')
      const heard = (frames: Frame[]) => kinds(frames).filter((kind) => kind !== 'caught_up')
      await until('one of them hears it', () => both.some(({ frames }) => kinds(frames).includes('Two')))
      assert.deepEqual(both.map(({ frames }) => heard(frames)).toSorted((a, b) => a.length - b.length)[1], [
        'One',
        'Two',
      ])
    })

    it('is told to fetch where too much has happened', async () => {
      const { uid, device, token } = await somebody()
      device.cut()
      const { database: store, tools } = h.service.house
      const events = Array.from({ length: missedMax + 1 }, () => ({ uid: 'ada', fingerprint: 'x' }))
      await store.write((connection) => workIn(connection, app.id, tools).emitEach(authTokenUpdated, events))
      await forget()
      await fetchesAnew(device, token)
      assert.ok(uid)
    })

    it('is told all that it missed, also where much of it is of a kind that nobody knows any more', async () => {
      const { uid, device, token } = await somebody()
      device.cut()
      const { database: store, tools } = h.service.house
      const unknown = { ...authTokenUpdated, name: 'boats.sunk' }
      const events = Array.from({ length: 250 }, () => ({ uid: 'ada', fingerprint: 'x' }))
      await say(app, 'ada', uid, 'Before')
      await store.write((connection) => workIn(connection, app.id, tools).emitEach(unknown, events))
      await say(app, 'ada', uid, 'After')
      await forget()
      const back = await comeBack(device, token)
      assert.deepEqual([back.welcome.resumed, kinds(back.frames)], [true, ['Before', 'After', 'caught_up']])
      await back.close()
    })

    it('is told to fetch after more than a day', async () => {
      const { device, token } = await somebody()
      device.cut()
      h.clock.setOffset(h.clock.offsetSeconds() + daySeconds)
      await fetchesAnew(device, token)
    })

    it('is told to fetch where its position is none, or none of this log', async () => {
      const { device, token } = await somebody()
      device.cut()
      const [id = '', check = ''] = device.position().split('.')
      const forged = `${id}.${check === '00000000' ? '11111111' : '00000000'}`
      await fetchesAnew(device, token, { position: forged })
      const others = [`${Number(id) - 1}.${check}`, `999999999999999.${check}`, '0.0', '-1.0', '1', '', 'x', '1e3.0']
      for (const position of others) {
        const back = await comeBack(device, token, { position })
        assert.deepEqual([back.welcome.resumed, kinds(back.frames)], [false, ['caught_up']], position)
        back.cut()
      }
    })

    it('may bring a position that somebody else of another app was told: it says nothing but how far the log has come', async () => {
      const { uid, device, token } = await somebody()
      const other = await appWith(h, 'ada', 'lin')
      const theirs = await connect(h, other, 'lin')
      await say(other, 'ada', 'lin', 'Theirs')
      await untilAllHeard(other, [theirs])
      device.cut()
      await say(app, 'ada', uid, 'Ours')
      const back = await comeBack(device, token, { position: theirs.position() })
      assert.deepEqual([back.welcome.resumed, kinds(back.frames)], [true, ['Ours', 'caught_up']])
      await back.close()
      await theirs.close()
    })

    const changes: Record<string, (uid: string, guid: string) => Promise<unknown>> = {
      'their role has changed': (uid) => app.put(`/users/${uid}`, { role: 'guest' }),
      'the permissions of a role have changed': () =>
        app.put('/roles/guest/permissions', { permissions: { editProfile: 'deny' } }),
      'the permissions of a scope have changed': (_, guid) =>
        app.put(`/groups/${guid}/scopes/participant/permissions`, {
          permissions: { 'listMessages.allowedMessageTypes': ['text'] },
        }),
      'a group with rules of its own was deleted': async (_, guid) => {
        const permissions = { 'listMessages.allowedMessageTypes': ['text'] }
        assertSucceeds(await app.put(`/groups/${guid}/scopes/admin/permissions`, { permissions }))
        return app.delete(`/groups/${guid}`)
      },
      'they were shut out and let in again': async (uid) => {
        assertSucceeds(await app.delete('/users', { uidsToDeactivate: [uid] }))
        return app.put('/users', { uidsToActivate: [uid] })
      },
    }
    for (const [what, change] of Object.entries(changes)) {
      it(`is told to fetch where ${what} meanwhile`, async () => {
        const { uid, guid, device, token } = await somebody()
        device.cut()
        await sayIn(app, guid, 'ada', 'One')
        assertSucceeds((await change(uid, guid)) as never)
        await fetchesAnew(device, token)
      })
    }

    it('is told what was said in a group before it was deleted, and that it was', async () => {
      const { guid, device, token } = await somebody()
      device.cut()
      await sayIn(app, guid, 'ada', 'One')
      assertSucceeds(await app.delete(`/groups/${guid}`))
      const back = await comeBack(device, token)
      const deleted = back.frames.find(({ type }) => type === 'group')
      assert.deepEqual([back.welcome.resumed, kinds(back.frames).includes('One')], [true, true])
      assert.deepEqual(
        [deleted?.body.action, deleted?.body.group.guid, deleted?.body.members],
        ['deleted', guid, undefined],
      )
      await back.close()
    })

    it('is refused where its token was deleted meanwhile, and told nothing', async () => {
      const { uid, device, token } = await somebody()
      device.cut()
      await say(app, 'ada', uid, 'One')
      assertSucceeds(await app.delete(`/users/${uid}/auth_tokens/${token}`))
      const back = attachDevice(openSocket(h, app.host), uid)
      await back.opened
      back.send({ type: 'auth', body: { authToken: token, position: device.position() } })
      assert.equal((await back.closed).code, 4401)
      assert.deepEqual(
        back.frames.map(({ type, body }) => [type, body.code]),
        [['error', 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND']],
      )
    })
  })
}
