import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, type House, house } from '../../../../tests/support/house.ts'
import { plansOf, rowsRead } from '../../../../tests/support/plans.ts'
import { randomFrom, seedFrom } from '../../../../tests/support/random.ts'
import { viewIn, workIn } from '../../common/work-in.ts'
import { folded } from '../../storage/search-text.ts'
import { tenantDb } from '../../storage/tenant.ts'
import { blockedUsersOf } from '../blocked-users/store.ts'
import { friendsOf } from '../friends/store.ts'
import { selectUsers } from './list.ts'
import type { UserListQuery } from './schemas.ts'
import { addMissingUsers, findUser, usersWithRole } from './store.ts'
import type { UserRow } from './tables.ts'
import type { ViewerOfUsers } from './wanted.ts'

/** Enough users that every way of counting and walking is the shortest for some question. */
const everyone = 2_400
const keys = ['n', 'or', 'nora', 'NORA L', 'u', 'u1', 'u10', '田', '花子', 'анна', '_', '%', '100%', 'åb', 'x', 'u2399']
const tagChoices = [['rare'], ['common'], ['third', 'rare'], ['common', 'third'], ['none']]
const names = ['Nora Lind', 'NORA Åberg', '田中 花子', 'Анна Петрова', 'Milo_Brandt', 'Priya 100%', 'Zoë']

for (const database of databases) {
  describe(`searching many users on ${database}`, () => {
    let h: House
    let app: AppClient
    let rows: UserRow[]
    const blocked = ['u7', 'u30', 'u31']
    const viewer: ViewerOfUsers = { uid: 'u0', friendsOnly: false, roles: [] }

    before(async () => {
      h = await house({ database })
      app = await h.app('one')
      await app.post('/roles', { role: 'guest', name: 'Guest' })
      await app.post('/roles', { role: 'expert', name: 'Expert' })
      await h.service.house.database.write(async (connection) => {
        const users = Array.from({ length: everyone }, (_, n) => ({
          uid: `u${n}`,
          name: names[n % names.length] as string,
          ...(n % 5 === 0 && { role: n % 100 === 0 ? 'expert' : 'guest' }),
          tags: [n % 50 === 0 ? 'rare' : 'common', ...(n % 3 === 0 ? ['third'] : [])],
        }))
        const { tools } = h.service.house
        // Two moments, so that lists cross from one to the other.
        await addMissingUsers(workIn(connection, app.id, tools, 1_700_000_000), users.slice(0, 1_000))
        await addMissingUsers(workIn(connection, app.id, tools, 1_700_000_900), users.slice(1_000))
      })
      await app.delete('/users', { uidsToDeactivate: ['u3', 'u10', 'u21', 'u700'] })
      await app.post('/users/u0/blockedusers', { blockedUids: blocked })
      await app.post('/users/u0/friends', { accepted: ['u11', 'u12', 'u1500'] })
      const db = tenantDb(h.service.house.database.reader, app.id)
      rows = (await db.select('users').selectAll().where('users.uid', 'like', 'u%').execute()) as UserRow[]
      assert.equal(rows.length, everyone)
    })
    after(() => h.close())

    /** The same question, answered by a look at every user. */
    function expected(query: UserListQuery, asked: ViewerOfUsers | undefined): string[] {
      const part = folded(query.searchKey ?? '')
      const fields = query.searchIn ?? ['name', 'uid']
      const tagged = ({ tags }: UserRow) => query.tags?.some((tag) => JSON.parse(tags ?? '[]').includes(tag)) ?? true
      return rows
        .filter(tagged)
        .filter((row) => fields.some((field) => folded(row[field as 'name' | 'uid']).includes(part)))
        .filter(({ role }) => query.role === undefined || role === query.role)
        .filter(({ deactivated_at: at }) =>
          query.onlyDeactivated ? at !== null : query.withDeactivated || at === null,
        )
        .filter(({ uid }) => uid !== asked?.uid && !(asked && query.hideBlockedUsers && blocked.includes(uid)))
        .toSorted((a, b) => b.created_at - a.created_at || (a.uid < b.uid ? -1 : 1))
        .map(({ uid }) => uid)
    }

    it('finds and counts what a look at every user finds, whatever way is taken', async () => {
      const seed = seedFrom('SEARCH_SEED')
      const { pick, chance } = randomFrom(seed)
      const view = viewIn(h.service.house.database.reader, app.id, h.service.house.tools)
      for (let round = 0; round < 150; round += 1) {
        const tags = chance(0.4) ? pick(tagChoices) : undefined
        const query: UserListQuery = {
          ...(tags && { tags }),
          ...((!tags || chance(0.3)) && { searchKey: pick(keys) }),
          ...(chance(0.3) && { searchIn: [pick(['name', 'uid'])] }),
          ...(chance(0.3) && { role: pick(['guest', 'default', 'nobody']) }),
          ...(chance(0.2) && { withDeactivated: true }),
          ...(chance(0.1) && { onlyDeactivated: true }),
          ...(chance(0.5) && { hideBlockedUsers: true }),
          perPage: pick([1, 7, 100, 1_000]),
          page: pick([1, 1, 2, 5]),
        }
        const asked = chance(0.5) ? viewer : undefined
        const all = expected(query, asked)
        const { perPage = 0, page = 1 } = query
        const { total, rows: found } = await selectUsers(view, query, asked)
        const hint = `SEARCH_SEED=${seed} ${JSON.stringify({ query, asked })}`
        assert.equal(total, all.length, hint)
        assert.deepEqual(
          found.map(({ uid }) => uid),
          all.slice((page - 1) * perPage, page * perPage),
          hint,
        )
      }
    })

    const fewRows = 1_300
    const boundedWalk =
      /FROM \(SELECT \* FROM users WHERE users.app_id = \? *\n? *ORDER BY users.created_at DESC, users.uid LIMIT \?\)/

    /** Whoever asks for few must not be answered by a look at everyone: there are 2,400. */
    function assertReadsFew(plan: string): void {
      if (database === 'sqlite') {
        const whole = /(users|search_entries) USING [A-Z ]*INDEX \w+ \(app_id=\?\)|SCAN (users|search_entries)\b/
        if (!boundedWalk.test(plan)) assert.doesNotMatch(plan, whole)
        return
      }
      const read = rowsRead(plan, ['users', 'search_entries'])
      assert.ok(read < fewRows, `${read} rows read: ${plan}`)
    }

    it('looks at few users for what concerns few of them, whatever is asked', async () => {
      const user = rows.find(({ uid }) => uid === 'u0') as UserRow
      const questions: [string, UserListQuery, ViewerOfUsers | undefined][] = [
        ['a rare key', { searchKey: 'u2399' }, undefined],
        ['a longer one', { searchKey: 'u239' }, viewer],
        ['a key and a filter', { searchKey: 'u239', role: 'guest' }, undefined],
        ['a key among blocked ones', { searchKey: 'u239', hideBlockedUsers: true }, viewer],
        ['a rare role', { role: 'expert' }, undefined],
        ['a rare tag', { tags: ['rare'] }, undefined],
        ['a rare tag and a common key', { tags: ['rare'], searchKey: 'u' }, undefined],
        ['a common tag and a rare key', { tags: ['common'], searchKey: 'u239' }, undefined],
        ['some by name', { uids: ['u5', 'u77', 'u1200', 'u2000'] }, undefined],
        ['friends', { friendsOnly: true }, viewer],
        ['friends with a common key', { friendsOnly: true, searchKey: 'u' }, viewer],
        ['everyone but the blocked', { hideBlockedUsers: true, perPage: 10 }, viewer],
        ['the deactivated', { onlyDeactivated: true }, undefined],
      ]
      for (const [name, query, asked] of questions) {
        const plans = await plansOf(h, app, (view) => selectUsers(view, query, asked))
        for (const plan of plans) {
          try {
            assertReadsFew(plan)
          } catch (error) {
            throw new Error(`${name}: ${(error as Error).message}`)
          }
        }
      }
      const lists = await plansOf(h, app, async ({ db }) => {
        await friendsOf(db, user).execute()
        await blockedUsersOf(db, user, 'both').execute()
        await usersWithRole(db, 'expert', '', 10)
      })
      for (const plan of lists) assertReadsFew(plan)
    })

    it('answers whoever has very many blocks', async () => {
      const many = 1_200
      await h.service.house.database.write(async (connection) => {
        const db = tenantDb(connection, app.id)
        const owner = (await findUser(db, 'u1')) as UserRow
        const values = rows
          .filter(({ uid }) => uid !== 'u1')
          .slice(0, many)
          .map(({ id, uid }) => ({ user_id: owner.id, uid: 'u1', blocked_id: id, blocked_uid: uid, created_at: 1 }))
        await db.insert('blocks', values).execute()
      })
      const asked = { uid: 'u1', friendsOnly: false, roles: [] }
      const view = viewIn(h.service.house.database.reader, app.id, h.service.house.tools)
      const left = rows.filter(({ deactivated_at }) => deactivated_at === null).length - 1
      const hiddenActive = rows
        .filter(({ uid }) => uid !== 'u1')
        .slice(0, many)
        .filter(({ deactivated_at }) => deactivated_at === null).length
      for (const query of [{ hideBlockedUsers: true }, { hideBlockedUsers: true, searchKey: 'u' }]) {
        const { total, rows: page } = await selectUsers(view, query, asked)
        assert.equal(total, left - hiddenActive)
        assert.equal(page.length, 100)
      }
    })
  })
}
