import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { describeTables } from './sqlite-statistics.ts'

const tables = `
  CREATE TABLE things (app_id text, place text, id integer, PRIMARY KEY (app_id, id));
  CREATE INDEX things_by_place ON things (app_id, place, id);
  CREATE INDEX things_special ON things (app_id, id) WHERE place = 'special';`

function statisticsIn(database: DatabaseSync): Record<string, unknown> {
  const rows = database.prepare('SELECT idx, stat FROM sqlite_stat1').all()
  return Object.fromEntries(rows.map(({ idx, stat }) => [idx, stat]))
}

describe('what the planner is told', () => {
  it('describes every index of a large install, once', () => {
    const database = new DatabaseSync(':memory:')
    database.exec(tables)
    assert.equal(describeTables(database), true)
    assert.deepEqual(statisticsIn(database), {
      sqlite_autoindex_things_1: '1000000 100000 1 noskipscan',
      things_by_place: '1000000 100000 1000 10 noskipscan',
      things_special: '10000 1000 10 noskipscan',
    })
    assert.equal(describeTables(database), false)
  })

  it('makes the planner choose the narrower of two indexes', () => {
    const database = new DatabaseSync(':memory:')
    database.exec(tables)
    describeTables(database)
    const plan = database
      .prepare(
        "EXPLAIN QUERY PLAN SELECT id FROM things WHERE app_id = 'a' AND place = 'b' AND id > 3 AND id < 9 ORDER BY id",
      )
      .all()
    assert.match(JSON.stringify(plan), /things_by_place \(app_id=\? AND place=\? AND id>\? AND id<\?\)/)
  })

  it('tells of a new index, and puts right what somebody has counted', () => {
    const database = new DatabaseSync(':memory:')
    database.exec(tables)
    describeTables(database)
    const told = statisticsIn(database)
    database.exec("INSERT INTO things VALUES ('a', 'b', 1); CREATE INDEX things_later ON things (id); ANALYZE")
    assert.notDeepEqual(statisticsIn(database), told)
    assert.equal(describeTables(database), true)
    assert.deepEqual(statisticsIn(database), { ...told, things_later: '1000000 10000 noskipscan' })
  })
})
