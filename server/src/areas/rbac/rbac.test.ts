import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { dump, nothingChanges, rowsOfApp } from '../../../../tests/support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { Done, done } from '../../common/reply.ts'
import { area } from '../../kit/area.ts'
import { operation } from '../../kit/operation.ts'
import { areas } from '../index.ts'
import { type FeatureKey, features } from '../restricted-features/index.ts'
import { rolePermissions } from './catalogue.ts'

/** One operation for each feature, so that the pipeline's decision is seen for those whose areas are not there yet. */
const probes = area({
  name: 'probes',
  about: 'Acts of users, without effect.',
  operations: [...features.keys()].map((feature) =>
    operation({
      id: `probe-${feature}`,
      route: `GET /probe/${feature}`,
      summary: feature,
      onBehalfOf: 'optional',
      may: feature,
      reply: Done,
      run: async () => done('It was allowed.'),
    }),
  ),
})

/** As it is published, id by id: what the catalogue says by itself would prove nothing. */
const published = {
  switches: `listUsers getUserDetails blockUser listBlockedUser unblockedUser editProfile listMessages getMessageDetails
    sendMessage sendMessage.mimeTypeAccessControl editMessage deleteMessage listThreadedMessages sendThreadedMessage
    sendThreadedMessage.mimeTypeAccessControl editThreadedMessage deleteThreadedMessage listReactions addReaction
    initiateCall joinCall listConversations updateConversation deleteConversation listGroups getGroupDetails createGroup
    joinGroup`,
  modes:
    'listUsers.mode getUserDetails.mode listMessages.mode getMessageDetails.mode sendMessage.mode initiateCall.mode',
  lists: `listMessages.allowedReceiverTypes listMessages.allowedMessageCategories listMessages.allowedMessageTypes
    sendMessage.allowedReceiverTypes sendMessage.allowedMessageCategories sendMessage.allowedMessageTypes
    sendThreadedMessage.allowedReceiverTypes sendThreadedMessage.allowedMessageCategories
    sendThreadedMessage.allowedMessageTypes initiateCall.allowedReceiverTypes listGroups.allowedGroupTypes
    getGroupDetails.allowedGroupTypes createGroup.allowedGroupTypes joinGroup.allowedGroupTypes
    editMessage.denyForScopes deleteMessage.denyForScopes`,
  roles: `listUsers.allowedRoles getUserDetails.allowedRoles blockUser.allowedRoles listBlockedUser.allowedRoles
    unblockedUser.allowedRoles listMessages.allowedSenderRoles sendMessage.allowedReceiverRoles
    sendThreadedMessage.allowedReceiverRoles initiateCall.allowedReceiverRoles`,
  words: `sendMessage.allowedCustomTypes sendMessage.mimeTypes sendMessage.allowedMimeTypes
    sendThreadedMessage.allowedCustomTypes sendThreadedMessage.mimeTypes`,
}

type Group = keyof typeof published
const idsOf = (group: Group) => published[group].split(/\s+/)
const defaultOf = { switches: 'allow', modes: 'all', lists: [], roles: [], words: [] }

const dataTypes = {
  switches: 'string',
  modes: 'string',
  lists: 'stringArray',
  roles: 'rolesStringArray',
  words: 'customStringArray',
}

const dataTypeOf = new Map(
  (Object.keys(published) as Group[]).flatMap((group) => idsOf(group).map((id) => [id, dataTypes[group]] as const)),
)

const defaults: Record<string, string | string[]> = Object.fromEntries(
  (Object.keys(published) as Group[]).flatMap((group) => idsOf(group).map((id) => [id, defaultOf[group]])),
)

it('every operation that names an act names a feature or a permission of the catalogues', () => {
  const named = areas.flatMap(({ operations }) => operations.flatMap(({ may }) => (may === undefined ? [] : [may])))
  assert.ok(named.length > 0)
  assert.deepEqual(
    named.filter((act) => !features.has(act) && !Object.hasOwn(rolePermissions, act)),
    [],
  )
})

for (const database of databases) {
  describe(`role permissions on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database, areas: [probes] })
    })
    after(() => h.close())

    async function newApp(...roles: string[]): Promise<AppClient> {
      const app = await h.app(randomUUID())
      for (const role of ['tutor', ...roles]) assertSucceeds(await app.post('/roles', { role, name: role }))
      return app
    }
    const path = (role = 'tutor') => `/roles/${role}/permissions`
    const set = async (app: AppClient, permissions: object, role = 'tutor') =>
      assertSucceeds(await app.put(path(role), { permissions })).data
    const valuesOf = async (app: AppClient, role = 'tutor') => {
      const { data } = assertSucceeds(await app.get(path(role)))
      return Object.fromEntries(data.map(({ id, value }: { id: string; value: unknown }) => [id, value]))
    }

    describe('list', () => {
      it('holds the whole catalogue of 64, in the contract’s form, with the defaults', async () => {
        const app = await newApp()
        const { data, meta } = assertSucceeds(await app.get(path()))
        assert.deepEqual(meta.pagination, { total: 64, count: 64, per_page: 100, current_page: 1, total_pages: 1 })
        assert.deepEqual(await valuesOf(app), defaults)
        for (const record of data) {
          assert.equal(record.type, 'role')
          assert.deepEqual(record.value, record.defaultValue)
          assert.equal(record.dataType, dataTypeOf.get(record.id), record.id)
          assert.ok(record.title && record.description && record.createdAt && record.updatedAt)
          const free = ['rolesStringArray', 'customStringArray'].includes(record.dataType)
          assert.equal('availableValues' in record, !free, record.id)
        }
        const { title: _, description: __, createdAt: ___, updatedAt: ____, ...mode } = data[1]
        assert.deepEqual(mode, {
          id: 'listUsers.mode',
          type: 'role',
          dataType: 'string',
          availableValues: ['all', 'friends'],
          defaultValue: 'all',
          value: 'all',
        })
      })

      it('is cut into pages', async () => {
        const app = await newApp()
        const { data, meta } = assertSucceeds(await app.get(`${path()}?perPage=10&page=7`))
        assert.equal(data.length, 4)
        assert.equal(meta.pagination.total_pages, 7)
      })
    })

    describe('set', () => {
      it('changes what is sent, keeps the rest, and answers all that holds now', async () => {
        const app = await newApp('guest')
        await set(app, { createGroup: 'deny' })
        const data = await set(app, { 'listUsers.mode': 'friends', 'listUsers.allowedRoles': ['guest', 'TUTOR'] })
        const expected = {
          ...defaults,
          createGroup: 'deny',
          'listUsers.mode': 'friends',
          'listUsers.allowedRoles': ['guest', 'tutor'],
        }
        assert.deepEqual(data.permissions, expected)
        assert.deepEqual(Object.keys(data).toSorted(), ['listUsers.allowedRoles', 'listUsers.mode', 'permissions'])
        assert.equal(data['listUsers.mode'].success, true)
        assert.equal(typeof data['listUsers.mode'].message, 'string')
        assert.deepEqual(await valuesOf(app), expected)
        assert.deepEqual(await valuesOf(app, 'default'), defaults)
      })

      it('takes every value of the catalogue', async () => {
        const app = await newApp('guest')
        const { data } = assertSucceeds(await app.get(path()))
        for (const { id, dataType, availableValues } of data) {
          const words: string[] = availableValues ?? (dataType === 'rolesStringArray' ? ['guest'] : ['any thing'])
          const tried = dataType === 'string' ? words : [[], words, ...words.map((word) => [word])]
          for (const value of tried) {
            const { permissions } = await set(app, { [id]: value })
            assert.deepEqual(permissions[id], value, id)
          }
        }
      })

      it('takes a single word for a list, and null for an empty one', async () => {
        const app = await newApp('guest')
        const one = await set(app, { 'sendMessage.allowedReceiverTypes': 'user', 'listUsers.allowedRoles': 'guest' })
        assert.deepEqual(one.permissions['sendMessage.allowedReceiverTypes'], ['user'])
        assert.deepEqual(one.permissions['listUsers.allowedRoles'], ['guest'])
        const none = await set(app, { 'sendMessage.allowedReceiverTypes': null })
        assert.deepEqual(none.permissions['sendMessage.allowedReceiverTypes'], [])
      })

      it('takes each word of a list once', async () => {
        const data = await set(await newApp(), { 'sendMessage.allowedMimeTypes': ['image/*', 'text/plain', 'image/*'] })
        assert.deepEqual(data.permissions['sendMessage.allowedMimeTypes'], ['image/*', 'text/plain'])
      })

      const failing = [
        ['an unknown permission', 'flyGroup', 'deny', 'ERR_BAD_REQUEST'],
        ['a permission in another letter case', 'CreateGroup', 'deny', 'ERR_BAD_REQUEST'],
        ['a name that every object has', 'constructor', 'deny', 'ERR_BAD_REQUEST'],
        ['a value outside the list', 'listUsers.mode', 'friendsOnly', 'ERR_BAD_REQUEST'],
        ['a value in another letter case', 'createGroup', 'Deny', 'ERR_BAD_REQUEST'],
        ['null for a word', 'createGroup', null, 'ERR_BAD_REQUEST'],
        ['a list for a word', 'createGroup', ['deny'], 'ERR_BAD_REQUEST'],
        ['a boolean', 'createGroup', false, 'ERR_BAD_REQUEST'],
        [
          'a word that the list does not know',
          'createGroup.allowedGroupTypes',
          ['public', 'secret'],
          'ERR_BAD_REQUEST',
        ],
        ['a number in a list', 'sendMessage.allowedCustomTypes', [7], 'ERR_BAD_REQUEST'],
        ['a blank word in a list', 'sendMessage.allowedMimeTypes', [' '], 'ERR_BAD_REQUEST'],
        ['an unknown role', 'listUsers.allowedRoles', ['tutor', 'nobody'], 'ERR_ROLE_NOT_FOUND'],
      ] as const
      for (const [what, id, value, code] of failing) {
        it(`fails ${what} alone, and the call when nothing else was sent`, async () => {
          const app = await newApp()
          const data = await set(app, { [id]: value, joinGroup: 'deny' })
          assert.equal(data.joinGroup.success, true)
          assert.equal(data.permissions.joinGroup, 'deny')
          const { success, error } = data[id]
          assert.equal(success, false)
          assert.deepEqual([error.code, error.source], [code, 'chat-api'])
          assert.equal(typeof error.message, 'string')
          assert.equal(typeof error.devMessage, 'string')
          assert.deepEqual(data.permissions, { ...defaults, joinGroup: 'deny' })
          const assertUnchanged = await nothingChanges(h)
          const answer = await app.put(path(), { permissions: { [id]: value } })
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.ok(answer.body.error.details.permissions.length > 0)
          await assertUnchanged(what)
        })
      }

      it('refuses a call without permissions', async () => {
        const app = await newApp()
        for (const body of [
          {},
          { permissions: {} },
          { permissions: [] },
          { permissions: 'deny' },
          { permissions: null },
        ]) {
          const answer = await app.put(path(), body)
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.deepEqual(Object.keys(answer.body.error.details), ['permissions'])
        }
        assertFails(await app.put(path('nobody'), {}), 404, 'ERR_ROLE_NOT_FOUND')
      })

      it('loses nothing under 30 calls at once', async () => {
        const app = await newApp()
        const ids = ['listUsers', 'sendMessage', 'editMessage', 'createGroup', 'joinGroup']
        await Promise.all(
          Array.from({ length: 30 }, (_, n) => {
            const mixed = n % 2 === 0 ? ids : ids.toReversed()
            return set(app, Object.fromEntries(mixed.map((id) => [id, 'deny'])))
          }),
        )
        const values = await valuesOf(app)
        for (const id of ids) assert.equal(values[id], 'deny')
      })
    })

    describe('unset', () => {
      it('returns one to its default and answers all; again, the same', async () => {
        const app = await newApp()
        await set(app, { createGroup: 'deny', 'listUsers.mode': 'friends' })
        for (let time = 0; time < 2; time += 1) {
          const { data } = assertSucceeds(await app.delete(`${path()}/listUsers.mode`))
          assert.deepEqual(data, { permissions: { ...defaults, createGroup: 'deny' } })
        }
      })

      it('refuses what is no permission', async () => {
        const app = await newApp()
        for (const id of ['flyGroup', 'listusers.mode', 'toString']) {
          const answer = await app.delete(`${path()}/${id}`)
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.deepEqual(Object.keys(answer.body.error.details), ['permission'])
        }
        assertFails(await app.delete(`${path('nobody')}/flyGroup`), 404, 'ERR_ROLE_NOT_FOUND')
      })
    })

    describe('when a role is deleted', () => {
      it('its permissions go, and a later role of its name begins with the defaults', async () => {
        const app = await newApp('guest')
        await set(app, { createGroup: 'deny' })
        assertSucceeds(await app.delete('/roles/tutor'))
        assertFails(await app.get(path()), 404, 'ERR_ROLE_NOT_FOUND')
        assertSucceeds(await app.post('/roles', { role: 'tutor', name: 'Tutor' }))
        assert.deepEqual(await valuesOf(app), defaults)
        await set(app, { joinGroup: 'deny' })
        await h.settle()
        assert.deepEqual(await valuesOf(app), { ...defaults, joinGroup: 'deny' })
        assert.equal(rowsOfApp({ rows: (await dump(h)).role_permissions ?? [] }, app.id).length, 1)
      })

      it('it leaves the lists of others, and an emptied list matches nobody, whoever comes later', async () => {
        const app = await newApp('guest', 'pupil')
        await set(app, { 'listUsers.allowedRoles': ['guest', 'pupil'], 'sendMessage.allowedReceiverRoles': ['guest'] })
        assertSucceeds(await app.delete('/roles/guest'))
        assertSucceeds(await app.post('/roles', { role: 'guest', name: 'Another guest' }))
        const values = await valuesOf(app)
        assert.deepEqual(values['listUsers.allowedRoles'], ['pupil'])
        assert.deepEqual(values['sendMessage.allowedReceiverRoles'], ['!none'])
        await h.settle()
        assert.deepEqual(await valuesOf(app), values)
      })

      it('a list that matches nobody can be sent back as it was read', async () => {
        const app = await newApp()
        const { permissions } = await set(app, { 'listUsers.allowedRoles': ['!none'] })
        assert.deepEqual(permissions['listUsers.allowedRoles'], ['!none'])
      })
    })

    describe('where a user acts', () => {
      const probe = (app: AppClient, feature: string, headers?: Record<string, string>) =>
        app.get(`/probe/${feature}`, headers)
      async function withUser(role?: string): Promise<AppClient> {
        const app = await newApp()
        assertSucceeds(await app.post('/users', { uid: 'ana', name: 'Ana', ...(role && { role }) }))
        return app
      }
      const ana = { onBehalfOf: 'ana' }

      const switched: Partial<Record<FeatureKey, string>> = {
        listUsers: 'listUsers',
        createMessage: 'sendMessage',
        createMessageThread: 'sendMessage',
        updateMessage: 'editMessage',
        deleteMessage: 'deleteMessage',
        createCall: 'initiateCall',
        createGroup: 'createGroup',
        listGroups: 'listGroups',
        joinGroup: 'joinGroup',
      }
      it('deny refuses the act at once, for users of the role alone, and never the app itself', async () => {
        const app = await withUser('tutor')
        assertSucceeds(await app.post('/users', { uid: 'ben', name: 'Ben' }))
        for (const [feature, permission] of Object.entries(switched)) {
          assertSucceeds(await probe(app, feature, ana))
          await set(app, { [permission]: 'deny' })
          assertFails(await probe(app, feature, ana), 403, 'ERR_PERMISSION_DENIED')
          assertSucceeds(await probe(app, feature, { onBehalfOf: 'ben' }))
          assertSucceeds(await probe(app, feature))
          assertSucceeds(await app.delete(`${path()}/${permission}`))
          assertSucceeds(await probe(app, feature, ana))
        }
      })

      it('a restricted feature refuses the act, each of the 44, with and without prefix', async () => {
        const app = await withUser()
        const restricted = '/roles/default/restrictedfeatures'
        for (const [n, feature] of [...features.keys()].entries()) {
          const key = n % 2 === 0 ? feature : `u.${feature}`
          assertSucceeds(await app.post(restricted, { featuresToRestrict: [key] }))
          assertFails(await probe(app, feature, ana), 403, 'ERR_PERMISSION_DENIED')
          assertSucceeds(await probe(app, feature))
          assertSucceeds(await app.delete(restricted, { featuresToAllow: [key] }))
          assertSucceeds(await probe(app, feature, ana))
        }
      })

      it('either layer may deny: lifting one leaves the other', async () => {
        const app = await withUser('tutor')
        await set(app, { createGroup: 'deny' })
        assertSucceeds(await app.post('/roles/tutor/restrictedfeatures', { featuresToRestrict: ['createGroup'] }))
        assertSucceeds(await app.delete('/roles/tutor/restrictedfeatures', { allowAll: true }))
        assertFails(await probe(app, 'createGroup', ana), 403, 'ERR_PERMISSION_DENIED')
        await set(app, { createGroup: 'allow' })
        assertSucceeds(await probe(app, 'createGroup', ana))
      })

      it('calls can be kept from a role', async () => {
        const app = await withUser('tutor')
        assertSucceeds(await app.get('/calls', ana))
        assertSucceeds(await app.post('/roles/tutor/restrictedfeatures', { featuresToRestrict: ['listCalls'] }))
        assertFails(await app.get('/calls', ana), 403, 'ERR_PERMISSION_DENIED')
        assertSucceeds(await app.get('/calls'))
      })

      it('what is not valid is told before what is not allowed', async () => {
        const app = await withUser('tutor')
        assertSucceeds(await app.post('/roles/tutor/restrictedfeatures', { featuresToRestrict: ['listCalls'] }))
        assertFails(await app.get('/calls?page=0', ana), 400, 'ERR_BAD_REQUEST')
      })

      it('users of a deleted role are held to default at once, also when the name is given to a new role', async () => {
        const app = await withUser('tutor')
        await set(app, { createGroup: 'deny' })
        await set(app, { joinGroup: 'deny' }, 'default')
        assertFails(await probe(app, 'createGroup', ana), 403, 'ERR_PERMISSION_DENIED')
        assertSucceeds(await probe(app, 'joinGroup', ana))
        assertSucceeds(await app.delete('/roles/tutor'))
        assertSucceeds(await probe(app, 'createGroup', ana))
        assertFails(await probe(app, 'joinGroup', ana), 403, 'ERR_PERMISSION_DENIED')
        assertSucceeds(await app.post('/roles', { role: 'tutor', name: 'New tutors' }))
        assertFails(await probe(app, 'joinGroup', ana), 403, 'ERR_PERMISSION_DENIED')
      })
    })

    it('tell each change to the log', async () => {
      const app = await newApp()
      await set(app, { createGroup: 'deny' })
      assertSucceeds(await app.delete(`${path()}/createGroup`))
      assertSucceeds(await app.delete(`${path()}/createGroup`))
      const told = ((await dump(h)).events ?? [])
        .map((row) => JSON.parse(row))
        .filter((row) => row.app_id === app.id && row.name === 'role.permissionsChanged')
        .map((row) => JSON.parse(row.payload))
      assert.equal(told.length, 2)
      for (const { role } of told) assert.equal(role, 'tutor')
    })

    it('keep apps apart', async () => {
      const [a, b] = [await newApp(), await newApp()]
      await set(a, { createGroup: 'deny' })
      assert.deepEqual(await valuesOf(b), defaults)
      assertSucceeds(await b.delete(`${path()}/createGroup`))
      assert.equal((await valuesOf(a)).createGroup, 'deny')
    })
  })
}
