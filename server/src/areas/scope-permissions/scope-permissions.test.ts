import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { dump, nothingChanges } from '../../../../tests/support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { statementsOf } from '../../../../tests/support/plans.ts'
import { tenantDb } from '../../storage/tenant.ts'
import { addMissingGroups } from '../groups/index.ts'
import { scopeValuesFor } from './store.ts'

/** As it is published, id by id: what the catalogue says by itself would prove nothing. */
const switches = `leaveGroup listMembers listMessages.historyBeforeJoin sendMessage sendMessage.mimeTypeAccessControl
  editMessage deleteMessage listThreadedMessages sendThreadedMessage sendThreadedMessage.mimeTypeAccessControl
  editThreadedMessage deleteThreadedMessage listReactions addReaction initiateCall joinCall`.split(/\s+/)
const lists = `listMembers.allowedScopes addMembers.allowedScopes kickMembers.allowedScopes ban.allowedScopes
  listMessages.allowedMessageCategories listMessages.allowedMessageTypes sendMessage.allowedMessageCategories
  sendMessage.allowedMessageTypes sendMessage.allowedCustomTypes sendMessage.mimeTypes
  sendThreadedMessage.allowedMessageCategories sendThreadedMessage.allowedMessageTypes
  sendThreadedMessage.allowedCustomTypes sendThreadedMessage.mimeTypes listReactions.allowedScopes
  initiateCall.allowedScopes initiateCall.allowedType`.split(/\s+/)
const moderated = { kickMembers: 'allow', ban: 'allow', unban: 'allow', listBannedUsers: 'allow' }
const withheld = { kickMembers: 'deny', ban: 'deny', unban: 'deny', listBannedUsers: 'deny' }
const alike: Record<string, string | string[]> = Object.fromEntries([
  ...switches.map((id) => [id, 'allow']),
  ...lists.map((id) => [id, []]),
])

/** What holds while nothing is set, and what is published as default where that is something else. */
const unset: Record<string, typeof alike> = {
  admin: { ...alike, editGroup: 'allow', deleteGroup: 'allow', addMembers: 'allow', ...moderated },
  moderator: { ...alike, editGroup: 'allow', deleteGroup: 'deny', addMembers: 'deny', ...moderated },
  participant: { ...alike, editGroup: 'deny', deleteGroup: 'deny', addMembers: 'deny', ...withheld },
}
const publishedOtherwise: Record<string, object> = { admin: { deleteGroup: 'deny' }, moderator: { editGroup: 'deny' } }
const defaults = unset.moderator

for (const database of databases) {
  describe(`scope permissions on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    async function newApp(): Promise<AppClient> {
      const app = await h.app(randomUUID())
      const groups = ['crew', 'board'].map((guid) => ({ guid, name: guid }))
      await h.service.house.database.write((connection) =>
        addMissingGroups(tenantDb(connection, app.id), groups, h.clock.now()),
      )
      return app
    }
    const path = (scope = 'moderator', guid = 'crew') => `/groups/${guid}/scopes/${scope}/permissions`
    const set = async (app: AppClient, permissions: object, scope?: string, guid?: string) =>
      assertSucceeds(await app.put(path(scope, guid), { permissions })).data
    const valuesOf = async (app: AppClient, scope?: string, guid?: string) => {
      const { data } = assertSucceeds(await app.get(path(scope, guid)))
      return Object.fromEntries(data.map(({ id, value }: { id: string; value: unknown }) => [id, value]))
    }

    it('list the whole catalogue of 40 for each scope, with its defaults and with what holds', async () => {
      const app = await newApp()
      for (const scope of ['admin', 'moderator', 'participant']) {
        const { data, meta } = assertSucceeds(await app.get(path(scope)))
        assert.equal(meta.pagination.total, 40)
        assert.equal(meta.pagination.per_page, 100)
        assert.deepEqual(await valuesOf(app, scope), unset[scope])
        const published = { ...unset[scope], ...publishedOtherwise[scope] }
        for (const record of data) {
          assert.equal(record.type, 'scope')
          assert.deepEqual(record.defaultValue, published[record.id], record.id)
        }
      }
    })

    it('change what is sent for one scope of one group, and nothing else', async () => {
      const app = await newApp()
      await set(app, { addReaction: 'deny' })
      const data = await set(app, { sendMessage: 'deny', 'listMembers.allowedScopes': ['admin', 'moderator'] })
      const expected = {
        ...defaults,
        addReaction: 'deny',
        sendMessage: 'deny',
        'listMembers.allowedScopes': ['admin', 'moderator'],
      }
      assert.deepEqual(data.permissions, expected)
      assert.equal(data.sendMessage.success, true)
      assert.deepEqual(await valuesOf(app), expected)
      assert.deepEqual(await valuesOf(app, 'moderator', 'CREW'), expected)
      assert.deepEqual(await valuesOf(app, 'admin'), unset.admin)
      assert.deepEqual(await valuesOf(app, 'moderator', 'board'), defaults)
    })

    it('take every value of the catalogue', async () => {
      const app = await newApp()
      const { data } = assertSucceeds(await app.get(path()))
      for (const { id, dataType, availableValues } of data) {
        const words = availableValues ?? ['any thing']
        for (const value of dataType === 'string' ? words : [[], words]) {
          assert.deepEqual((await set(app, { [id]: value })).permissions[id], value)
        }
      }
    })

    it('take a single word for a list, and null for an empty one', async () => {
      const app = await newApp()
      const one = await set(app, { 'listMembers.allowedScopes': 'admin', 'initiateCall.allowedType': 'audio' })
      assert.deepEqual(one.permissions['listMembers.allowedScopes'], ['admin'])
      assert.deepEqual(one.permissions['initiateCall.allowedType'], ['audio'])
      const none = await set(app, { 'initiateCall.allowedType': null })
      assert.deepEqual(none.permissions['initiateCall.allowedType'], [])
    })

    it('fail what does not fit alone, and the call when nothing else was sent', async () => {
      const app = await newApp()
      const wrong = [
        ['createGroup', 'deny'],
        ['initiateCall', 'friends'],
        ['listMembers.allowedScopes', ['owner']],
        ['initiateCall.allowedType', ['hologram']],
        ['sendMessage', null],
      ] as const
      for (const [id, value] of wrong) {
        const data = await set(app, { [id]: value, editMessage: 'deny' })
        assert.deepEqual([data[id].success, data[id].error.code], [false, 'ERR_BAD_REQUEST'])
        assert.deepEqual(data.permissions, { ...defaults, editMessage: 'deny' })
        const assertUnchanged = await nothingChanges(h)
        assertFails(await app.put(path(), { permissions: { [id]: value } }), 400, 'ERR_BAD_REQUEST')
        await assertUnchanged(id)
      }
      for (const body of [{}, { permissions: {} }, { permissions: [] }]) {
        const answer = await app.put(path(), body)
        assertFails(answer, 400, 'ERR_BAD_REQUEST')
        assert.deepEqual(Object.keys(answer.body.error.details), ['permissions'])
      }
    })

    it('return to the default one by one; again, the same', async () => {
      const app = await newApp()
      await set(app, { sendMessage: 'deny', 'initiateCall.allowedType': ['audio'] })
      for (let time = 0; time < 2; time += 1) {
        const { data } = assertSucceeds(await app.delete(`${path()}/initiateCall.allowedType`))
        assert.deepEqual(data, { permissions: { ...defaults, sendMessage: 'deny' } })
      }
      const answer = await app.delete(`${path()}/createGroup`)
      assertFails(answer, 400, 'ERR_BAD_REQUEST')
      assert.deepEqual(Object.keys(answer.body.error.details), ['permission'])
    })

    it('refuse an unknown group, then an unknown scope', async () => {
      const app = await newApp()
      const body = { permissions: { sendMessage: 'deny' } }
      const calls = (at: string) => [app.get(at), app.put(at, body), app.delete(`${at}/sendMessage`)]
      for (const answer of await Promise.all(calls(path('owner', 'nowhere')))) {
        assertFails(answer, 404, 'ERR_GUID_NOT_FOUND')
      }
      for (const scope of ['owner', 'Admin', 'constructor']) {
        for (const answer of await Promise.all(calls(path(scope)))) {
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.deepEqual(Object.keys(answer.body.error.details), ['scope'])
        }
      }
    })

    it('tell each change to the log', async () => {
      const app = await newApp()
      await set(app, { sendMessage: 'deny' })
      assertSucceeds(await app.delete(`${path()}/sendMessage`))
      assertSucceeds(await app.delete(`${path()}/sendMessage`))
      const told = ((await dump(h)).events ?? [])
        .map((row) => JSON.parse(row))
        .filter((row) => row.app_id === app.id && row.name === 'group.permissionsChanged')
        .map((row) => JSON.parse(row.payload))
      assert.equal(told.length, 2)
      for (const { guid, scope } of told) assert.deepEqual([guid, scope], ['crew', 'moderator'])
    })

    it('are looked up for whoever acts only where some group of the app has set any', async () => {
      const app = await newApp()
      const lookUp = () =>
        statementsOf(h, app, async ({ db }) => {
          const actor = { uid: 'ada', role: 'default', roleId: null }
          const values = await scopeValuesFor(db, actor, { guid: 'crew', scope: 'moderator' })
          assert.equal(values.sendMessage, 'allow')
        })
      assert.equal((await lookUp()).length, 1, 'what the role allows')
      await set(app, { sendMessage: 'deny' }, 'moderator', 'board')
      assert.equal((await lookUp()).length, 2)
    })

    it('keep apps apart', async () => {
      const [a, b] = [await newApp(), await newApp()]
      await set(a, { sendMessage: 'deny' })
      assert.deepEqual(await valuesOf(b), defaults)
    })
  })
}
