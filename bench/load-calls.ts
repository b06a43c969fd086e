import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { demoCalls } from '../server/src/install/demo-calls.ts'
import { demoUsers } from '../server/src/install/demo-people.ts'

/**
 * A million calls in a few minutes. A few hundred calls are played through the emulator door, so that every row is one
 * Parley wrote itself; they are then copied, each copy moved to another moment of the same month, and the counts of lists
 * are made anew. Up to a hundred thousand, what comes out passes `parley doctor`.
 */

const monthSeconds = 30 * 24 * 3600
const usersMax = 1_000
const variants = 6
/** Beyond this many calls the copies have no ledger: no list reads it, and it has six rows to a call. */
const ledgersMax = 100_000

type Script = ReturnType<typeof demoCalls>[number]

/** Scripts to play: the demo's stories with a cast of a thousand, and one that is rare. */
export function templateScripts(now: number): Script[] {
  const stories = Array.from({ length: variants }, () => demoCalls(now)).flat()
  return [...stories.map(recast), lonelyMeeting(now)]
}

function recast(script: Script, index: number): Script {
  const cast = new Map(demoUsers.map(({ uid }, role) => [uid, `user-${(index * 7 + role * 131) % usersMax}`]))
  const text = JSON.stringify(script).replaceAll(/"(\w+)"/g, (word, name) =>
    cast.has(name) ? `"${cast.get(name)}"` : word,
  )
  return JSON.parse(text)
}

/** The only story in which nobody else turned up: one call in five hundred has a single participant. */
function lonelyMeeting(now: number): Script {
  return {
    initiator: 'user-1',
    receiver: 'town-hall',
    receiverType: 'group',
    type: 'video',
    mode: 'meet',
    startAt: now - monthSeconds / 2,
    steps: [
      { after: 0, do: 'join', uid: 'user-1', deviceId: 'web-1' },
      { after: 900, do: 'end' },
    ],
  }
}

type Value = string | number | null
type Row = Record<string, Value>

/** A database that rows are copied into. */
interface Target {
  rows(sql: string): Promise<Row[]>
  add(table: string, row: Row): Promise<void> | void
  run(sql: string): Promise<void>
  close(): Promise<void>
}

/** Copies the calls of a stopped install until there are `wanted` of them. */
export async function multiplyCalls(target: Target, appId: string, wanted: number): Promise<void> {
  const templates = await templatesIn(target, appId)
  const { rest, last, existing } = await presentCalls(target, appId)
  const indexes = await dropIndexes(target)
  await target.run('BEGIN')
  for (const { at, template, copy } of placesFor(templates, wanted - existing, last)) {
    const sessionId = `${rest}.${at}${copy.toString(16).padStart(40, '0')}`
    await addCopy(
      target,
      wanted > ledgersMax ? { ...template, facts: [] } : template,
      sessionId,
      at - Number(template.call.initiated_at),
    )
  }
  await target.run('COMMIT')
  for (const index of indexes) await target.run(index)
  await countLists(target, appId)
}

interface Template {
  call: Row
  facts: Row[]
  members: Row[]
}

async function templatesIn(target: Target, appId: string): Promise<Template[]> {
  const calls = await target.rows(`SELECT * FROM calls WHERE app_id = '${appId}' AND live = 0 ORDER BY session_id`)
  const facts = Map.groupBy(await target.rows(`SELECT * FROM call_facts WHERE app_id = '${appId}'`), sessionOf)
  const members = Map.groupBy(await target.rows(`SELECT * FROM call_members WHERE app_id = '${appId}'`), sessionOf)
  return calls.map((call) => ({
    call,
    facts: facts.get(sessionOf(call)) ?? [],
    members: members.get(sessionOf(call)) ?? [],
  }))
}

const sessionOf = ({ session_id: sessionId }: Row) => sessionId

/** The part that session ids share, when the newest call began, and how many there are; some may still be live. */
async function presentCalls(target: Target, appId: string): Promise<{ rest: string; last: number; existing: number }> {
  const [newest] = await target.rows(
    `SELECT session_id, initiated_at FROM calls WHERE app_id = '${appId}' ORDER BY initiated_at DESC LIMIT 1`,
  )
  const [count] = await target.rows(`SELECT count(*) AS existing FROM calls WHERE app_id = '${appId}'`)
  const rest = String(newest?.session_id).split('.').slice(0, 3).join('.')
  return { rest, last: Number(newest?.initiated_at), existing: Number(count?.existing) }
}

/** Where the copies lie: even over the month, and the templates in turn, so that one page is like another. */
function placesFor(templates: Template[], count: number, last: number) {
  return Array.from({ length: count }, (_, copy) => ({
    at: last - Math.floor(((count - copy) * monthSeconds) / count),
    template: templates[copy % templates.length] as Template,
    copy,
  }))
}

async function addCopy(
  target: Target,
  { call, facts, members }: Template,
  sessionId: string,
  shift: number,
): Promise<void> {
  const from = String(call.session_id)
  const moved = (text: Value | undefined) =>
    typeof text !== 'string' ? null : movedText(text, shift).replaceAll(from, sessionId)
  await target.add('calls', {
    ...call,
    session_id: sessionId,
    initiated_at: Number(call.initiated_at) + shift,
    ended_at: Number(call.ended_at) + shift,
    document: moved(call.document),
    transcriptions: moved(call.transcriptions),
  })
  for (const row of facts) {
    await target.add('call_facts', { ...row, session_id: sessionId, fact: movedText(String(row.fact), shift) })
  }
  for (const row of members) {
    await target.add('call_members', { ...row, session_id: sessionId, initiated_at: Number(row.initiated_at) + shift })
  }
}

/** JSON text with every moment in it moved: seconds as numbers, and dates in ISO 8601. */
function movedText(text: string, shift: number): string {
  return text.replaceAll(/(?<=[:,[])1\d{9}(?=[,}\]])|\d{4}-\d\d-\d\dT[\d:.]+Z/g, (moment) =>
    moment.endsWith('Z') ? new Date(Date.parse(moment) + shift * 1000).toISOString() : String(Number(moment) + shift),
  )
}

/** Filling indexes row by row takes longer than building them afterwards. Answers how to make them again. */
async function dropIndexes(target: Target): Promise<string[]> {
  const indexes = {
    calls_by_time: 'calls (app_id, initiated_at DESC, session_id, facets, ended_at)',
    calls_by_facets: 'calls (app_id, facets, initiated_at DESC, session_id)',
    call_members_by_time: 'call_members (app_id, uid, initiated_at DESC, session_id, placed, guid)',
  }
  for (const name of Object.keys(indexes)) await target.run(`DROP INDEX ${name}`)
  return Object.entries(indexes).map(([name, on]) => `CREATE INDEX ${name} ON ${on}`)
}

/** Spans of time per level, as storage/tally.ts has them. */
const spanSeconds = { coarse: 2 ** 19, fine: 2 ** 14, finest: 2 ** 9 }

async function countLists(target: Target, appId: string): Promise<void> {
  const ofCalls = `FROM calls WHERE app_id = '${appId}'`
  const count = (list: string, level: number, bucket: string, facets: string, from: string, groups: string) =>
    target.run(`
      INSERT INTO tallies (app_id, list, level, bucket, facets, n)
      SELECT '${appId}', ${list}, ${level}, ${bucket}, ${facets}, count(*) ${from} GROUP BY ${groups}`)
  const spans = Object.values(spanSeconds).map((seconds, index) => ({ level: index + 1, seconds }))

  await target.run(`DELETE FROM tallies WHERE app_id = '${appId}'`)
  await count(`'calls'`, 0, '0', `'*'`, ofCalls, 'app_id')
  await count(`'calls'`, 0, '0', 'facets', ofCalls, 'facets')
  for (const { level, seconds } of spans) {
    const bucket = `initiated_at / ${seconds}`
    await count(`'calls'`, level, bucket, `'*'`, ofCalls, bucket)
    if (seconds !== spanSeconds.finest) await count(`'calls'`, level, bucket, 'facets', ofCalls, `${bucket}, facets`)
  }
  const ofMembers = `FROM call_members WHERE app_id = '${appId}'`
  await count(`'calls of ' || uid`, 0, '0', `'*'`, ofMembers, 'uid')
  const joined = `FROM call_members m JOIN calls c ON c.app_id = m.app_id AND c.session_id = m.session_id
    WHERE m.app_id = '${appId}'`
  await count(`'calls of ' || m.uid`, 0, '0', 'c.facets', joined, 'm.uid, c.facets')
}

export function sqliteTarget(file: string): Target {
  const database = new DatabaseSync(file)
  // Loading is not what is measured, and a load that fails is begun anew.
  database.exec(
    'PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -256000; PRAGMA temp_store = MEMORY',
  )
  const inserts = new Map<string, ReturnType<DatabaseSync['prepare']>>()
  return {
    rows: async (sql) => database.prepare(sql).all() as Row[],
    add(table, row) {
      let insert = inserts.get(table)
      if (!insert) {
        const columns = Object.keys(row)
        insert = database.prepare(
          `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
        )
        inserts.set(table, insert)
      }
      insert.run(...Object.values(row))
    },
    run: async (sql) => database.exec(sql),
    async close() {
      database.exec('PRAGMA optimize')
      database.close()
    },
  }
}

const rowsPerInsert = 2_000

export function postgresTarget(url: string): Target {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  const pending = new Map<string, Row[]>()

  async function flush(table: string, rows: Row[]): Promise<void> {
    const text = JSON.stringify(rows.splice(0))
    await pool.query(`INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1::text::json)`, [
      text,
    ])
  }
  return {
    rows: async (text) => (await pool.query(text)).rows,
    async add(table, row) {
      const rows = pending.get(table) ?? []
      pending.set(table, rows)
      if (rows.push(row) >= rowsPerInsert) await flush(table, rows)
    },
    async run(text) {
      for (const [table, rows] of pending) if (rows.length > 0) await flush(table, rows)
      await pool.query(text)
    },
    async close() {
      await pool.query('ANALYZE')
      await pool.end()
    },
  }
}
