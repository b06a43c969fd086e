import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { dump, nothingChanges, rowsOfApp } from '../../../../tests/support/dump.ts'
import {
  type AppClient,
  assertFails,
  assertSucceeds,
  callerAt,
  type House,
  house,
} from '../../../../tests/support/house.ts'
import { logOf } from '../../../../tests/support/told.ts'

interface Outcome {
  success: boolean
  message?: string
  inviteUrl?: string
  error?: { code: string; message: string; source: string; details?: Record<string, string[]> }
}

interface Shown {
  id: string
  name: string
  email: string
  role: string
  createdAt: number
}

const max = 25
const linkForm = /^https:\/\/apimgmt\.localhost:\d+\/invitations\/[\w-]{43}$/
const addresses = (count: number, word = 'n') => Array.from({ length: count }, (_, n) => `${word}${n}@acme.example`)

for (const database of databases) {
  describe(`collaborators on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
      await h.service.house.database.write(({ query }) =>
        query.insertInto('accounts').values({ id: 31, name: 'Ana Sol', email: 'ana@acme.example' }).execute(),
      )
    })
    after(() => h.close())

    const newApp = () => h.app(randomUUID())
    const pathOf = ({ id }: { id: string }) => `/apps/${id}/collaborators`
    const change = async (app: AppClient, body: object): Promise<Record<string, Record<string, Outcome>>> =>
      assertSucceeds(await h.management.post(pathOf(app), body)).data
    const list = async (app: AppClient, query = '') => assertSucceeds(await h.management.get(`${pathOf(app)}${query}`))
    const teamOf = async (app: AppClient): Promise<Record<string, string>> =>
      Object.fromEntries((await list(app)).data.map(({ email, role }: Shown) => [email, role]))
    /** Each address with `true`, or the code of what stood against it. */
    const shortly = (outcomes: Record<string, Outcome> = {}) =>
      Object.fromEntries(Object.entries(outcomes).map(([address, each]) => [address, each.error?.code ?? each.success]))
    const told = async (app: AppClient) =>
      (await logOf(h, app))
        .filter(({ name }) => name.startsWith('collaborator.'))
        .map(({ name, payload, audience }) => [name, payload.email, payload.role, audience.length])
    /** What is kept of the invitations, by address. */
    const invitationsOf = async ({ id }: AppClient): Promise<Record<string, string | null>> => {
      const { collaborators = [] } = await dump(h)
      const rows = collaborators.filter((row) => row.includes(id)).map((row) => JSON.parse(row))
      return Object.fromEntries(rows.map(({ email, invitation }) => [email, invitation]))
    }

    it('are added with the role of their list, and listed with the names of their accounts', async () => {
      const app = await newApp()
      const earliest = h.clock.now()
      const outcomes = await change(app, {
        admins: ['ana@acme.example'],
        developers: ['dev@acme.example'],
        moderators: ['mo@acme.example'],
      })
      assert.deepEqual(Object.keys(outcomes), ['admins', 'developers', 'moderators', 'collaboratorsToRemove'])
      assert.deepEqual(
        [shortly(outcomes.admins), shortly(outcomes.developers), shortly(outcomes.moderators)],
        [{ 'ana@acme.example': true }, { 'dev@acme.example': true }, { 'mo@acme.example': true }],
      )
      assert.deepEqual(outcomes.collaboratorsToRemove, {})
      const { data, meta } = await list(app)
      assert.deepEqual(meta.pagination, { total: 3, count: 3, per_page: 100, current_page: 1, total_pages: 1 })
      assert.deepEqual(
        data.map(({ name, email, role }: Shown) => [name, email, role]),
        [
          ['Ana Sol', 'ana@acme.example', 'admin'],
          ['dev@acme.example', 'dev@acme.example', 'developer'],
          ['mo@acme.example', 'mo@acme.example', 'moderator'],
        ],
      )
      for (const shown of data as Shown[]) {
        assert.deepEqual(Object.keys(shown).toSorted(), ['createdAt', 'email', 'id', 'name', 'role'])
        assert.match(shown.id, /^[0-9a-f]{16}$/)
        assert.ok(shown.createdAt >= earliest && shown.createdAt <= h.clock.now())
      }
    })

    it('are listed newest first, in pages, and those of another app are not', async () => {
      const [app, other] = [await newApp(), await newApp()]
      await change(other, { admins: ['other@acme.example'] })
      for (const address of addresses(3)) {
        h.clock.setOffset(h.clock.offsetSeconds() + 10)
        await change(app, { moderators: [address] })
      }
      h.clock.setOffset(0)
      const all = await list(app)
      assert.deepEqual(
        all.data.map(({ email }: Shown) => email),
        addresses(3).toReversed(),
      )
      const { data, meta } = await list(app, '?per_page=2&page=2')
      assert.deepEqual(data, all.data.slice(2))
      assert.deepEqual(meta.pagination, { total: 3, count: 1, per_page: 2, current_page: 2, total_pages: 2 })
      assert.deepEqual(await teamOf(other), { 'other@acme.example': 'admin' })
    })

    it('move from one role to another, and stay who they are', async () => {
      const app = await newApp()
      await change(app, { admins: ['ana@acme.example'] })
      const [first] = (await list(app)).data
      h.clock.setOffset(h.clock.offsetSeconds() + 10)
      assert.deepEqual(shortly((await change(app, { developers: ['ANA@acme.example'] })).developers), {
        'ana@acme.example': true,
      })
      await change(app, { developers: ['ana@acme.example'] })
      h.clock.setOffset(0)
      assert.deepEqual((await list(app)).data, [{ ...first, role: 'developer' }])
      assert.deepEqual(await told(app), [
        ['collaborator.added', 'ana@acme.example', 'admin', 0],
        ['collaborator.moved', 'ana@acme.example', 'developer', 0],
      ])
    })

    it('are removed, and whoever is none cannot be', async () => {
      const app = await newApp()
      await change(app, { admins: ['ana@acme.example', 'ben@acme.example'] })
      const outcomes = await change(app, {
        collaboratorsToRemove: ['Ana@Acme.Example', 'stranger@acme.example', 'owner@localhost'],
      })
      assert.deepEqual(shortly(outcomes.collaboratorsToRemove), {
        'ana@acme.example': true,
        'stranger@acme.example': 'ERR_NOT_A_COLLABORATOR',
        'owner@localhost': 'ERR_NOT_A_COLLABORATOR',
      })
      assert.deepEqual(await teamOf(app), { 'ben@acme.example': 'admin' })
      assert.deepEqual((await told(app)).at(-1), ['collaborator.removed', 'ana@acme.example', 'admin', 0])
      const again = await change(app, { collaboratorsToRemove: ['ana@acme.example'] })
      assert.deepEqual(shortly(again.collaboratorsToRemove), { 'ana@acme.example': 'ERR_NOT_A_COLLABORATOR' })
    })

    it('are others than the owner, in any letter case', async () => {
      const app = await newApp()
      const { email } = assertSucceeds(await h.management.get(`/apps/${app.id}`)).data.appOwner
      const { admins = {} } = await change(app, { admins: [email.toUpperCase(), 'ben@acme.example'] })
      assert.deepEqual(shortly(admins), { [email]: 'ERR_ALREADY_AN_OWNER', 'ben@acme.example': true })
      const { error } = admins[email] ?? {}
      assert.equal(error?.source, 'mgmt-api')
      assert.match(error?.message ?? '', /already/)
      assert.deepEqual(await teamOf(app), { 'ben@acme.example': 'admin' })
    })

    it('are told of one by one: what is no address fails alone, under the name it was sent by', async () => {
      const app = await newApp()
      const wrong = ['ana', 'Ana <ana@acme.example>', 'a@b@c', 'jo\u212A@acme.example', '__proto__', 'constructor']
      const raw = JSON.stringify({ moderators: [...wrong, 'jok@acme.example'] })
      const answer = await h.management.send(pathOf(app), { method: 'POST', raw })
      const outcomes: Record<string, Outcome> = assertSucceeds(answer).data.moderators
      assert.deepEqual(Object.keys(outcomes), [...wrong, 'jok@acme.example'])
      for (const address of wrong) {
        const { error } = outcomes[address] ?? {}
        assert.equal(error?.code, 'ERR_BAD_REQUEST')
        assert.ok(Object.hasOwn(error?.details ?? {}, address), answer.text)
      }
      assert.deepEqual(await teamOf(app), { 'jok@acme.example': 'moderator' })
    })

    it('count once in a list, and in the first of several lists alone', async () => {
      const app = await newApp()
      await change(app, { moderators: ['mo@acme.example'] })
      const outcomes = await change(app, {
        collaboratorsToRemove: ['MO@acme.example', 'ana@acme.example'],
        moderators: ['ana@acme.example', 'cy@acme.example'],
        admins: ['Ana@acme.example', ' ana@ACME.example ', 'mo@acme.example'],
      })
      assert.deepEqual(shortly(outcomes.admins), { 'ana@acme.example': true, 'mo@acme.example': true })
      assert.deepEqual(shortly(outcomes.moderators), {
        'ana@acme.example': 'ERR_BAD_REQUEST',
        'cy@acme.example': true,
      })
      assert.deepEqual(shortly(outcomes.collaboratorsToRemove), {
        'mo@acme.example': 'ERR_BAD_REQUEST',
        'ana@acme.example': 'ERR_BAD_REQUEST',
      })
      assert.deepEqual(await teamOf(app), {
        'ana@acme.example': 'admin',
        'mo@acme.example': 'admin',
        'cy@acme.example': 'moderator',
      })
    })

    describe('without an account', () => {
      it('get a link to pass on, of which only a keyed hash is kept; those with one get none', async () => {
        const app = await newApp()
        const { admins = {} } = await change(app, { admins: ['ana@acme.example', 'new@acme.example'] })
        assert.equal(admins['ana@acme.example']?.inviteUrl, undefined)
        const link = admins['new@acme.example']?.inviteUrl ?? ''
        assert.match(link, linkForm)
        const kept = await invitationsOf(app)
        assert.equal(kept['ana@acme.example'], null)
        assert.equal(typeof kept['new@acme.example'], 'string')
        const token = new URL(link).pathname.split('/').at(-1) ?? ''
        assert.ok(!JSON.stringify(await dump(h)).includes(token), 'the token is in no table, and so not in the log')
      })

      it('get another link when they are added again, which replaces the first', async () => {
        const app = await newApp()
        const invited = async (body: object) => {
          const { admins = {}, moderators = {} } = await change(app, body)
          const { inviteUrl } = { ...admins['new@acme.example'], ...moderators['new@acme.example'] }
          return { inviteUrl, kept: (await invitationsOf(app))['new@acme.example'] }
        }
        const told = [
          await invited({ admins: ['new@acme.example'] }),
          await invited({ admins: ['new@acme.example'] }),
          await invited({ moderators: ['new@acme.example'] }),
        ]
        for (const { inviteUrl } of told) assert.match(inviteUrl ?? '', linkForm)
        assert.equal(new Set(told.map(({ inviteUrl }) => inviteUrl)).size, 3)
        assert.equal(new Set(told.map(({ kept }) => kept)).size, 3)
      })

      it('get the same link when a request is repeated under its key', async () => {
        const app = await newApp()
        const key = { 'Idempotency-Key': randomUUID() }
        const ask = async () =>
          assertSucceeds(await h.management.post(pathOf(app), { admins: ['new@acme.example'] }, key)).data
        const link = ({ admins }: Record<string, Record<string, Outcome>>) => admins?.['new@acme.example']?.inviteUrl
        const first = await ask()
        assert.match(link(first) ?? '', linkForm)
        assert.deepEqual(await ask(), first)
        assert.ok(!JSON.stringify(await dump(h)).includes(new URL(link(first) ?? '').pathname))
      })
    })

    describe('at most 25 of an app', () => {
      it('fit: the next fails alone, moving is no matter, and whoever goes makes room', async () => {
        const app = await newApp()
        const { admins = {} } = await change(app, { admins: addresses(max + 2) })
        const outcomes = Object.values(shortly(admins))
        assert.deepEqual(outcomes, [...Array(max).fill(true), ...Array(2).fill('ERR_PLAN_QUOTA_RESTRICTION')])
        const [first = '', second = ''] = addresses(2)
        const moved = await change(app, { developers: [first], moderators: ['late@acme.example'] })
        assert.deepEqual(shortly(moved.developers), { [first]: true })
        assert.deepEqual(shortly(moved.moderators), { 'late@acme.example': 'ERR_PLAN_QUOTA_RESTRICTION' })
        const swapped = await change(app, { moderators: ['late@acme.example'], collaboratorsToRemove: [second] })
        assert.deepEqual(shortly(swapped.moderators), { 'late@acme.example': true })
        const team = await teamOf(app)
        assert.deepEqual([Object.keys(team).length, team[first], team[second]], [max, 'developer', undefined])
      })

      it('holds under 40 additions at once', async () => {
        const app = await newApp()
        const answers = await Promise.all(addresses(40).map((address) => change(app, { admins: [address] })))
        const outcomes = answers.flatMap(({ admins }) => Object.values(shortly(admins)))
        assert.equal(outcomes.filter((each) => each === true).length, max)
        assert.equal(outcomes.filter((each) => each === 'ERR_PLAN_QUOTA_RESTRICTION').length, 15)
        const added = answers.flatMap(({ admins = {} }) => Object.keys(admins).filter((each) => admins[each]?.success))
        assert.deepEqual(Object.keys(await teamOf(app)).toSorted(), added.toSorted())
      })

      it('holds while some go as others come', async () => {
        const app = await newApp()
        const early = addresses(max, 'early')
        await change(app, { admins: early })
        const answers = await Promise.all([
          ...early.slice(0, 10).map((address) => change(app, { collaboratorsToRemove: [address] })),
          ...addresses(20, 'late').map((address) => change(app, { moderators: [address] })),
        ])
        const came = answers
          .flatMap(({ moderators }) => Object.values(shortly(moderators)))
          .filter((each) => each === true)
        assert.equal(Object.keys(await teamOf(app)).length, max - 10 + came.length)
        assert.ok(came.length <= 10)
      })
    })

    it('become one when the same address is added many times at once', async () => {
      const app = await newApp()
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, n) => change(app, { [n % 2 ? 'admins' : 'developers']: ['One@acme.example'] })),
      )
      for (const { admins, developers } of answers) {
        assert.deepEqual({ ...shortly(admins), ...shortly(developers) }, { 'one@acme.example': true })
      }
      assert.deepEqual(Object.keys(await teamOf(app)), ['one@acme.example'])
    })

    it('cannot be changed by bad input, which names the field', async () => {
      const app = await newApp()
      await change(app, { admins: ['ana@acme.example'] })
      const unchanged = await nothingChanges(h)
      const refused: [object | undefined, string][] = [
        [undefined, 'body'],
        [{}, 'body'],
        [{ admins: [], collaboratorsToRemove: [] }, 'body'],
        [{ admins: 'ben@acme.example' }, 'admins'],
        [{ developers: [7] }, 'developers.0'],
        [{ moderators: ['ben@acme.example', ' '] }, 'moderators.1'],
        [{ collaboratorsToRemove: [`${'x'.repeat(250)}@x.example`] }, 'collaboratorsToRemove.0'],
        [{ admins: addresses(101) }, 'admins'],
      ]
      for (const [body, field] of refused) {
        const answer = await h.management.post(pathOf(app), body)
        assertFails(answer, 400, 'ERR_BAD_REQUEST')
        assert.ok(Array.isArray(answer.body.error.details[field]), answer.text)
      }
      const large = { admins: addresses(100, 'x'.repeat(100)) }
      assertFails(await h.management.post(pathOf(app), large), 413, 'ERR_BAD_REQUEST')
      await unchanged('refused collaborators')
    })

    it('are there for active apps of the account only, and go with their app', async () => {
      const app = await newApp()
      await change(app, { admins: ['ana@acme.example', 'new@acme.example'] })
      const { database: storage, tools } = h.service.house
      const [key, secret] = ['c'.repeat(40), 'd'.repeat(40)]
      const pair = { key, account_id: 31, secret_hash: tools.secrets.fingerprint(secret), created_at: 1 }
      await storage.write(({ query }) => query.insertInto('management_keys').values(pair).execute())
      // What somebody is in a team opens no door by itself.
      const ana = callerAt(h.client, 'apimgmt.localhost', '', { key, secret })
      assertFails(await ana.get(pathOf(app)), 404, 'ERR_APP_NOT_FOUND')
      assertFails(await ana.post(pathOf(app), { admins: ['x@acme.example'] }), 404, 'ERR_APP_NOT_FOUND')

      assertSucceeds(await h.management.delete(`/apps/${app.id}`))
      assertFails(await h.management.get(pathOf(app)), 409, 'ERR_APP_ARCHIVED')
      assertFails(await h.management.post(pathOf(app), { admins: ['x@acme.example'] }), 409, 'ERR_APP_ARCHIVED')
      h.clock.setOffset(31 * 24 * 3600)
      await h.settle()
      assert.deepEqual(rowsOfApp({ collaborators: (await dump(h)).collaborators ?? [] }, app.id), [])
      h.clock.setOffset(0)
    })
  })
}
