import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pino } from 'pino'
import { areas } from '../server/src/areas/index.ts'
import { workIn } from '../server/src/common/work-in.ts'
import { type House, openHouse } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import { area } from '../server/src/kit/area.ts'
import { defineEvent } from '../server/src/kit/event.ts'
import { follower } from '../server/src/kit/follower.ts'
import { Type } from '../server/src/kit/schema.ts'
import { migrate } from '../server/src/storage/migrate.ts'
import { createFollowers } from '../server/src/workers/followers.ts'
import { type DatabaseName, databases, freshDatabase } from './support/databases.ts'
import { acrossApps } from './support/tripwire.ts'
import { until } from './support/until.ts'

/** An install whose followers stood at (transaction, id) is brought up to date: nothing is skipped, nothing repeated. */

const step = '20261121-log-by-id'
const silentLog = pino({ level: 'silent' })
const ticked = defineEvent({ name: 'test.ticked', payload: Type.Object({ n: Type.Integer() }), audience: () => [] })

/** Takes the tables back to what they were before the step. */
const former: Record<DatabaseName, string[]> = {
  sqlite: [
    'DROP INDEX events_of_app',
    'ALTER TABLE events ADD COLUMN tx integer NOT NULL DEFAULT 0',
    'ALTER TABLE followers ADD COLUMN tx integer NOT NULL DEFAULT 0',
  ],
  postgres: [
    'DROP TRIGGER events_under_way ON events',
    'DROP FUNCTION events_under_way()',
    'DROP INDEX events_of_app',
    'ALTER TABLE events DROP CONSTRAINT events_key',
    'ALTER TABLE events ADD COLUMN tx bigint NOT NULL DEFAULT pg_current_xact_id()::text::bigint',
    'ALTER TABLE events ADD CONSTRAINT events_position PRIMARY KEY (tx, id)',
    'ALTER TABLE followers ADD COLUMN tx bigint NOT NULL DEFAULT 0',
  ],
}

type Position = [tx: number, id: number]

/** Positions of the seven events, in the order in which readers came to them. */
const log: Record<DatabaseName, Position[]> = {
  sqlite: [1, 2, 4, 5, 7, 8, 9].map((id): Position => [0, id]),
  // As after a restore: three events of the backup, then others, with ids that occur twice and in another order.
  postgres: [
    [0, 1],
    [0, 2],
    [0, 3],
    [10, 2],
    [10, 7],
    [12, 5],
    [13, 1],
  ],
}

async function setUp({ database }: House, name: DatabaseName, followers: Record<string, number>): Promise<void> {
  const reset = [...former[name], 'DELETE FROM events', `DELETE FROM migrations WHERE name = '${step}'`]
  await acrossApps(() =>
    database.writeAlone(async ({ run }) => {
      for (const statement of reset) await run(statement, [])
      for (const [index, [tx, id]] of log[name].entries()) {
        await run(
          `INSERT INTO events (tx, id, app_id, name, payload, at)
           VALUES (${tx}, ${id}, 'app', '${ticked.name}', '{"n":${index + 1}}', 0)`,
          [],
        )
      }
      for (const [follower, read] of Object.entries(followers)) {
        const [tx, id] = log[name][read - 1] ?? [0, 0]
        await run(`INSERT INTO followers (name, tx, id) VALUES ('${follower}', ${tx}, ${id})`, [])
      }
    }),
  )
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

for (const name of databases) {
  describe(`a log from before on ${name}`, () => {
    it('is read on from where each follower stood', async () => {
      const fresh = await freshDatabase(name)
      const ticking = area({ name: 'test', about: 'Ticks.', events: [ticked] })
      const house = await openHouse(readConfig(fresh.environment), silentLog, { areas: [...areas, ticking] })
      const { database, tools } = house
      try {
        const stood = { 'test.begun': 1, 'test.halfway': 4, 'test.nearly': 6, 'test.done': 7 }
        await setUp(house, name, stood)
        assert.deepEqual(await migrate(database, []), [step])
        assert.deepEqual(await migrate(database, []), [])

        const seen = new Map<string, number[]>([...Object.keys(stood), 'test.new'].map((each) => [each, []]))
        const followers = [...seen].map(([each, numbers]) =>
          follower({ name: each, on: [ticked], handle: async ({ payload: { n } }) => void numbers.push(n) }),
        )
        const node = createFollowers(database, [{ ...ticking, followers }], () => tools, silentLog)
        const readAll = () => until('the log is read', async () => !(await node.run()) && !(await node.isBehind()))
        await readAll()
        for (const [each, read] of Object.entries(stood)) assert.deepEqual(seen.get(each), upTo(7).slice(read), each)
        assert.deepEqual(seen.get('test.new'), upTo(7))

        await database.write((connection) => workIn(connection, 'app', tools).emit(ticked, { n: 8 }))
        await readAll()
        for (const [each, numbers] of seen) assert.equal(numbers.at(-1), 8, each)
        const rows = await database.eventsAfter(0, 100)
        assert.deepEqual(
          rows.map(({ payload }) => JSON.parse(payload).n),
          upTo(8),
        )
      } finally {
        await house.close()
        await fresh.drop()
      }
    })
  })
}
