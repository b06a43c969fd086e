import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, type House, house } from '../../../../tests/support/house.ts'
import { randomFrom, seedFrom } from '../../../../tests/support/random.ts'
import { acrossApps } from '../../../../tests/support/tripwire.ts'
import { connectionOver } from '../../storage/connection.ts'
import { folded } from '../../storage/search.ts'
import { tenantDb } from '../../storage/tenant.ts'
import { selectUsers } from './list.ts'
import type { UserListQuery } from './schemas.ts'
import { addMissingUsers, findUser } from './store.ts'
import type { UserRow } from './tables.ts'
import type { Viewer } from './wanted.ts'

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
    const viewer: Viewer = { uid: 'u0', friendsOnly: false, roles: [] }

    before(async () => {
      h = await house({ database })
      app = await h.app('one')
      await app.post('/roles', { role: 'guest', name: 'Guest' })
      await h.service.house.database.write(async (connection) => {
        const users = Array.from({ length: everyone }, (_, n) => ({
          uid: `u${n}`,
          name: names[n % names.length] as string,
          ...(n % 5 === 0 && { role: 'guest' }),
          tags: [n % 50 === 0 ? 'rare' : 'common', ...(n % 3 === 0 ? ['third'] : [])],
        }))
        // Two moments, so that lists cross from one to the other.
        await addMissingUsers(tenantDb(connection, app.id), users.slice(0, 1_000), 1_700_000_000)
        await addMissingUsers(tenantDb(connection, app.id), users.slice(1_000), 1_700_000_900)
      })
      await app.delete('/users', { uidsToDeactivate: ['u3', 'u10', 'u21', 'u700'] })
      await app.post('/users/u0/blockedusers', { blockedUids: blocked })
      const db = tenantDb(h.service.house.database.reader, app.id)
      rows = (await db.select('users').selectAll().where('users.uid', 'like', 'u%').execute()) as UserRow[]
      assert.equal(rows.length, everyone)
    })
    after(() => h.close())

    /** The same question, answered by a look at every user. */
    function expected(query: UserListQuery, asked: Viewer | undefined): string[] {
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
      const db = tenantDb(h.service.house.database.reader, app.id)
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
        const { total, rows: found } = await selectUsers(db, query, asked)
        const hint = `SEARCH_SEED=${seed} ${JSON.stringify({ query, asked })}`
        assert.equal(total, all.length, hint)
        assert.deepEqual(
          found.map(({ uid }) => uid),
          all.slice((page - 1) * perPage, page * perPage),
          hint,
        )
      }
    })

    it('never reads all users or all entries: every statement of a search goes by an index', async () => {
      const { reader } = h.service.house.database
      const plans: string[] = []
      const explain = database === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'
      const watching = connectionOver(reader.flavour, async (text, parameters) => {
        const { rows: plan } = await acrossApps(async () => reader.run(`${explain} ${text}`, parameters))
        plans.push(`${text}\n${JSON.stringify(plan)}`)
        return reader.run(text, parameters)
      })
      const db = tenantDb(watching, app.id)
      assert.ok(await findUser(db, 'u1'))
      for (const searchKey of ['n', 'nor', 'nora', '花子', 'u2399']) {
        await selectUsers(db, { searchKey }, undefined)
        await selectUsers(db, { searchKey, role: 'guest' }, undefined)
        await selectUsers(db, { searchKey, withDeactivated: true, hideBlockedUsers: true }, viewer)
      }
      assert.ok(plans.length > 30)
      const whole =
        database === 'sqlite'
          ? /SCAN (?!search_grams VIRTUAL TABLE INDEX|hit|\(?subquery)/i
          : /Seq Scan on (users|search_entries)/
      for (const plan of plans) assert.doesNotMatch(plan, whole)
    })
  })
}
