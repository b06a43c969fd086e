import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { prepared, tenantDb, type WrittenOut } from '../server/src/storage/tenant.ts'
import { databases } from './support/databases.ts'
import { house } from './support/house.ts'
import { acrossApps, assertNothingTripped, problemWith } from './support/tripwire.ts'

describe('the tenant tripwire', () => {
  const refused = [
    ['a read of all apps', 'select * from "users"'],
    ['a read that only shows the app', 'select "users"."app_id" from "users"'],
    ['a change in all apps', 'update "api_keys" set "name" = ? where "api_keys"."name" = ?'],
    ['a deletion in all apps', 'delete from "calls" where "calls"."session_id" = $1'],
    ['an insertion without an app', 'insert into "jobs" ("name", "key") values (?, ?)'],
    [
      'a join that forgets one side',
      'select * from "call_members" inner join "calls" on "calls"."session_id" = "call_members"."session_id" where "call_members"."app_id" = ?',
    ],
    [
      'a join that binds no app',
      'select * from "call_members" inner join "calls" on "calls"."app_id" = "call_members"."app_id" where "calls"."session_id" = ?',
    ],
    [
      'a sub-query that forgets its app',
      'select * from "calls" where "calls"."app_id" = ? and "calls"."session_id" in (select "session_id" from "call_members" where "uid" = ?)',
    ],
    ['a claim of jobs that is not the job loop’s', 'update "jobs" set "locked_until" = ? where "run_at" <= ?'],
  ] as const

  for (const [what, sql] of refused) {
    it(`trips on ${what}`, () => assert.notEqual(problemWith(sql), undefined))
  }

  const allowed = [
    ['a read of one app', 'select * from "users" where "users"."app_id" = $1 and "users"."uid" = $2'],
    ['an insertion with its app', 'insert into "jobs" ("app_id", "name") values (?, ?)'],
    [
      'a join that compares both sides and binds one',
      'select * from "call_members" inner join "calls" on "calls"."app_id" = "call_members"."app_id" where "call_members"."app_id" = ?',
    ],
    ['a table that holds no app’s rows', 'select * from "apps" where "apps"."account_id" = ?'],
    ['the schema', 'create table "users" ("app_id" text not null)'],
  ] as const

  for (const [what, sql] of allowed) {
    it(`lets pass ${what}`, () => assert.equal(problemWith(sql), undefined))
  }
})

for (const database of databases) {
  describe(`the tenant tripwire on ${database}`, () => {
    it('stops a statement without an app on readers and in transactions, and the test fails at its end', async () => {
      const h = await house({ database })
      const { reader, write } = h.service.house.database
      await assert.rejects(reader.query.selectFrom('users').selectAll().execute(), /touches users without its app_id/)
      await assert.rejects(
        write(({ query }) => query.deleteFrom('calls').execute()),
        /touches calls without its app_id/,
      )
      await assert.rejects(
        write(({ run }) => Promise.resolve(run('SELECT * FROM api_keys', []))),
        /touches api_keys/,
      )
      assert.throws(() => assertNothingTripped(), /users/)
      await h.close()
    })

    it('stops written-out statements too: `db.sql` takes none without its app, and the wire none that forgets a table', async () => {
      const h = await house({ database })
      const [a, b] = [await h.app('a'), await h.app('b')]
      const db = tenantDb(h.service.house.database.reader, a.id)
      await assert.rejects(db.sql`SELECT * FROM users`.execute(), /does not name its app/)
      await assert.rejects(db.sql`SELECT * FROM users WHERE users.app_id = ${b.id}`.execute(), /does not name its app/)
      const ofAll = prepared<object, unknown>((standing) => standing.sql`SELECT * FROM users`)
      await assert.rejects(ofAll(db, {}), /does not name its app/)
      assertNothingTripped()
      const slips: [WrittenOut<unknown>, RegExp][] = [
        [db.sql`SELECT ${a.id} AS app FROM users`, /touches users without its app_id/],
        [
          db.sql`SELECT * FROM users WHERE users.app_id = ${a.id} AND users.uid IN (SELECT uid FROM group_members)`,
          /touches group_members without its app_id/,
        ],
        [
          db.sql`SELECT * FROM users JOIN group_members ON group_members.uid = users.uid
            WHERE users.app_id = ${a.id} AND group_members.app_id = ${b.id}`,
          /bound to several apps/,
        ],
      ]
      for (const [statement, problem] of slips) {
        await assert.rejects(statement.execute(), problem)
        assert.throws(() => assertNothingTripped(), problem)
      }
      await h.close()
    })

    it('has nothing to say of rows that bring another app along: `db` puts its own in its place', async () => {
      const h = await house({ database })
      const [a, b] = [await h.app('a'), await h.app('b')]
      const lockOfB = { app_id: b.id, name: 'a lock' }
      await h.service.house.database.write((connection) =>
        tenantDb(connection, a.id).insert('locks', lockOfB).execute(),
      )
      const locks = await acrossApps(() =>
        h.service.house.database.reader.query.selectFrom('locks').selectAll().execute(),
      )
      assert.deepEqual(
        locks.filter(({ name }) => name === 'a lock'),
        [{ app_id: a.id, name: 'a lock' }],
      )
      await h.close()
    })

    it('lets a tenant connection and a declared look across apps pass', async () => {
      const h = await house({ database })
      const { id } = await h.app('a')
      const { reader } = h.service.house.database
      const keys = await tenantDb(reader, id).select('api_keys').selectAll().execute()
      assert.equal(keys.length, 2)
      const all = await acrossApps(() => reader.query.selectFrom('api_keys').selectAll().execute())
      assert.equal(all.length, 2)
      await h.close()
    })
  })
}
