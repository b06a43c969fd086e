import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { type Admin, createAdmin, createManagement, ParleyError } from '../../sdk/src/admin/index.ts'
import { listMessages, sendMessage } from '../../sdk/src/api.ts'
import { type AppClient, type House, house } from '../support/house.ts'
import { fetchInto } from './house-fetch.ts'

describe('the admin of the SDK', () => {
  let h: House
  let app: AppClient
  let admin: Admin
  let runtime: { fetch: typeof fetch }

  before(async () => {
    h = await house({ database: 'sqlite' })
    app = await h.app('sdk')
    runtime = { fetch: fetchInto(h) }
    admin = createAdmin({ url: `https://${app.host}`, apiKey: app.apiKey, runtime, retries: 0 })
    for (const uid of ['ada', 'lin']) await admin.users.create({ uid, name: uid })
    await admin.groups.create({ guid: 'boats', name: 'Boats', members: { participants: ['ada', 'lin'] } })
  })
  after(() => h.close())

  it('takes one object for path, query and body, and answers the record', async () => {
    const updated = await admin.users.update({ uid: 'lin', name: 'Lin Oke', tags: ['crew', 'a,b'] })
    assert.equal(updated.name, 'Lin Oke')
    assert.equal((await admin.users.get({ uid: 'lin' })).name, 'Lin Oke')
    const tagged = await admin.users.list({ tags: ['a,b'], withTags: true }).take(5)
    assert.deepEqual(
      tagged.map(({ uid }) => uid),
      ['lin'],
    )
  })

  it('reads a list over all of its pages, when it is read and not before', async () => {
    for (let n = 0; n < 9; n += 1) await admin.roles.create({ role: `role-${n}`, name: `Role ${n}` })
    const roles = admin.roles.list({ perPage: 3 })
    const seen = new Set<string>()
    for await (const { role } of roles) seen.add(role)
    assert.equal(seen.size, 10)
    const pages: number[] = []
    for await (const { data } of roles.pages()) pages.push(data.length)
    assert.deepEqual(pages, [3, 3, 3, 1])
    assert.equal((await roles.take(4)).length, 4)
    assert.deepEqual(await roles.take(0), [])
  })

  it('misses nothing of a list that is read on from a time', async () => {
    const since = h.clock.now()
    const made: string[] = []
    for (const [second, count] of [1, 1, 3, 1].entries()) {
      h.clock.setOffset(second + 1)
      for (let n = 0; n < count; n += 1) {
        const { guid } = await admin.groups.create({ guid: `since-${second}-${n}`, name: 'Since' })
        made.push(guid)
      }
    }
    const changed = await admin.groups.list({ affix: 'append', updatedAt: since, perPage: 3 }).take(100)
    h.clock.setOffset(0)
    assert.deepEqual(changed.map(({ guid }) => guid).toSorted(), made.toSorted())
  })

  it('reads on from cursors, forwards and from the end', async () => {
    const ada = admin.as('ada')
    const ids: string[] = []
    for (let n = 0; n < 10; n += 1) ids.push((await ada.messages.send({ to: { user: 'lin' }, text: `${n}` })).id)
    const talk = async (input: object) => {
      const read: string[] = []
      for await (const { id } of ada.messages.listUserMessages({ uid: 'lin', limit: 3, ...input })) read.push(id)
      return read
    }
    assert.deepEqual(await talk({}), ids)
    assert.deepEqual(await talk({ cursor: { affix: 'prepend' } }), ids.toReversed())
    assert.deepEqual(await talk({ cursor: { affix: 'append', id: ids[6] } }), ids.slice(7))
    const numbered = admin.messages.listUserMessages({ uid: 'lin', perPage: 3 })
    assert.equal((await numbered.take(100)).length, ids.length)
  })

  it('tells the id of the path from that of the cursor', async () => {
    const { id } = await admin.messages.send({ to: { group: 'boats' }, text: 'Vote' })
    for (const reaction of ['1', '2', '3', '4', '5', '6', '7']) {
      await admin.as('ada').reactions.add({ id, reaction: `r${reaction}` })
    }
    const reactions: string[] = []
    for await (const { reaction } of admin.reactions.list({ id, limit: 2 })) reactions.push(reaction)
    assert.deepEqual(reactions, ['r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7'])
  })

  it('acts on behalf of a user, and sends to one or, called in full, to many', async () => {
    const message = await admin.as('ada').messages.send({ to: { group: 'boats' }, text: 'Boat at ten', muid: 'm-1' })
    assert.deepEqual([message.sender, message.receiver, message.data.text], ['ada', 'boats', 'Boat at ten'])
    const many = await admin.call(sendMessage, {
      multipleReceivers: { uids: ['ada', 'lin'] },
      data: { text: 'To both' },
    })
    assert.ok('uids' in many)
    assert.deepEqual(Object.keys(many.uids ?? {}), ['ada', 'lin'])
    const counts = await admin.as('lin').call(listMessages, { unread: true, count: true })
    assert.ok(Array.isArray(counts))
  })

  it('sends files as a form', async () => {
    const file = new File(['oars and rudders'], 'plan.txt', { type: 'text/plain' })
    const sent = await admin.as('ada').messages.send({ to: { user: 'lin' }, type: 'file', files: [file] })
    const [attachment] = sent.data.attachments as { name: string; size: number }[]
    assert.deepEqual([attachment?.name, attachment?.size], ['plan.txt', 16])
  })

  it('encodes whatever an id is, so that it leads nowhere else', async () => {
    for (const uid of ['a/b', 'a?b', '%2e%2e', 'a b', 'ü']) {
      await assert.rejects(admin.users.get({ uid }), (error) => ParleyError.is(error, 'ERR_UID_NOT_FOUND'), uid)
    }
    for (const uid of ['', '..', '.', '\ud800']) {
      await assert.rejects(admin.users.get({ uid }), (error) => ParleyError.is(error, 'ERR_USAGE'), uid)
    }
  })

  it('fails with one kind of error, by code', async () => {
    const refused = await admin.users.create({ uid: 'ada', name: 'Again' }).catch((error) => error)
    assert.ok(ParleyError.is(refused, 'ERR_UID_ALREADY_EXISTS'))
    assert.equal(refused.kind, 'refused')
    assert.ok(refused.requestId)
    const invalid = await admin.users.create({ uid: 'new', name: '' }).catch((error) => error)
    assert.ok(ParleyError.is(invalid, 'ERR_BAD_REQUEST'))
    assert.ok(Array.isArray(invalid.details.name))
    assert.ok(!ParleyError.is(invalid, 'ERR_UID_NOT_FOUND'))
    assert.ok(!ParleyError.is(new Error('other')))
    const stranger = createAdmin({ url: `https://${app.host}/`, apiKey: 'f'.repeat(40), runtime })
    await assert.rejects(stranger.users.list().take(1), { code: 'AUTH_ERR_APIKEY_NOT_FOUND', kind: 'auth' })
    const narrow = createAdmin({ url: `https://${app.host}`, apiKey: app.authKey, runtime })
    await assert.rejects(narrow.users.get({ uid: 'ada' }), { code: 'AUTH_ERR_NO_ACCESS', kind: 'auth' })
  })

  it('says at once what cannot work', async () => {
    const hosts = [
      'chat.example.org',
      'http://chat.example.org',
      'http://localhost@example.org',
      `https://${app.host}/v3`,
    ]
    for (const url of hosts) assert.throws(() => createAdmin({ url, apiKey: 'k' }), { kind: 'usage' }, url)
    const limits = [{ timeoutMs: Number.POSITIVE_INFINITY }, { timeoutMs: 0 }, { retries: -1 }, { retries: Number.NaN }]
    for (const limit of limits) await assert.rejects(admin.users.get({ uid: 'ada' }, limit), { kind: 'usage' })
    await assert.rejects(admin.as('').users.get({ uid: 'ada' }), { kind: 'usage' })
    await assert.rejects(admin.as('ä').users.get({ uid: 'ada' }), { kind: 'usage' })
    await assert.rejects(admin.as('lin').messages.list({ unread: true, count: true }).take(1), { kind: 'usage' })
  })

  it('names the app where the host does not', async () => {
    const plain = createAdmin({ url: 'https://localhost', apiKey: app.apiKey, appId: app.id, runtime })
    assert.equal((await plain.ownApp.get()).id, app.id)
  })

  it('opens the management door with its key', async () => {
    const { key, secret } = h.management
    const management = createManagement({ url: 'https://apimgmt.localhost', key, secret, runtime })
    const created = await management.apps.create({ name: 'Second', region: app.region as 'us' })
    assert.equal((await management.apps.get({ appId: created.id })).name, 'Second')
    const names: string[] = []
    for await (const { name } of management.apps.list({ perPage: 1 })) names.push(name)
    assert.ok(names.includes('Second'))
  })

  it('is given up by a signal, before and while it waits', async () => {
    const controller = new AbortController()
    const given = { signal: controller.signal }
    const waiting = createAdmin({
      url: `https://${app.host}`,
      apiKey: app.apiKey,
      runtime: {
        fetch: (_, init) => {
          controller.abort()
          return new Promise((_, reject) => reject(init?.signal?.reason))
        },
      },
    })
    await assert.rejects(waiting.users.get({ uid: 'ada' }, given), { code: 'ERR_ABORTED', kind: 'aborted' })
    await assert.rejects(admin.users.get({ uid: 'ada' }, given), { code: 'ERR_ABORTED', kind: 'aborted' })
  })

  it('leaves nothing on a signal that many calls share', async () => {
    const { signal } = new AbortController()
    await admin.users.get({ uid: 'ada' }, { signal })
    await assert.rejects(admin.users.get({ uid: 'nobody' }, { signal }))
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })

  it('knows its errors also from another copy of the package', async () => {
    const copy = `${import.meta.resolve('../../sdk/src/http/errors.ts')}?copy`
    const { ParleyError: Other } = await import(copy)
    const error = new Other({ code: 'ERR_NETWORK', kind: 'network', message: 'Gone.' })
    assert.ok(!(error instanceof ParleyError))
    assert.ok(ParleyError.is(error, 'ERR_NETWORK'))
  })
})
