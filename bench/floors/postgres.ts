import { createServer } from 'node:http'
import pg from 'pg'
import { type FixedAnswer, listening } from './http.ts'

/** The same statements as Parley's through the bare driver, behind raw HTTP: no keys, no limits, no checks, no log. */

export interface PostgresFloor {
  url: string
  connections: number
  appId: string
  /** The key that is renamed. */
  fingerprint: string
  name: string
  answer: FixedAnswer
}

const bigintOid = 20
pg.types.setTypeParser(bigintOid, Number)

const statements = {
  one: `SELECT session_id, live, document, transcriptions, extras FROM calls WHERE app_id = $1 AND session_id = $2`,
  count: `SELECT n FROM tallies
    WHERE app_id = $1 AND list = 'calls' AND level = 0 AND bucket = 0 AND facets = '*'`,
  page: `SELECT session_id, live, document, transcriptions FROM calls
    WHERE app_id = $1 AND initiated_at < $2 ORDER BY initiated_at DESC, session_id LIMIT $3 OFFSET $4`,
  key: `SELECT * FROM api_keys WHERE app_id = $1 AND fingerprint = $2`,
  lock: `INSERT INTO locks (app_id, name) VALUES ($1, 'api-keys')
    ON CONFLICT (app_id, name) DO UPDATE SET name = 'api-keys'`,
  others: `SELECT name FROM api_keys WHERE app_id = $1 AND fingerprint != $2`,
  rename: `UPDATE api_keys SET name = $3, updated_at = $4 WHERE app_id = $1 AND fingerprint = $2 RETURNING *`,
  event: `INSERT INTO events (app_id, name, payload, at) VALUES ($1, 'apiKey.updated', $2, $3)`,
}

/** The database keeps each of them under its name, as it does for Parley. */
const filled = (name: keyof typeof statements, values: unknown[]) => ({ name, text: statements[name], values })

async function serve(settings: PostgresFloor): Promise<void> {
  const { appId, answer } = settings
  const pool = new pg.Pool({ connectionString: settings.url, max: settings.connections })
  // The database may be stopped first.
  pool.on('error', () => {})

  async function one(sessionId: string): Promise<string> {
    const {
      rows: [row],
    } = await pool.query(filled('one', [appId, sessionId]))
    return `{"data":${row?.document.slice(0, -1)},${row?.extras}}}`
  }

  async function firstPage(): Promise<string> {
    const {
      rows: [tally],
    } = await pool.query(filled('count', [appId]))
    const { rows } = await pool.query(filled('page', [appId, Number.MAX_SAFE_INTEGER, 100, 0]))
    const pagination = { total: tally?.n, count: rows.length, per_page: 100, current_page: 1, total_pages: 1 }
    const documents = rows.map(({ document }) => document).join(',')
    return `{"data":[${documents}],"meta":{"pagination":${JSON.stringify(pagination)}}}`
  }

  async function rename(): Promise<string> {
    const { fingerprint, name } = settings
    const now = Math.floor(Date.now() / 1000)
    const client = await pool.connect()
    await client.query('BEGIN')
    await client.query(filled('key', [appId, fingerprint]))
    await client.query(filled('lock', [appId]))
    await client.query(filled('others', [appId, fingerprint]))
    await client.query(filled('rename', [appId, fingerprint, name, now]))
    await client.query(filled('event', [appId, JSON.stringify({ name, scope: 'authOnly' }), now]))
    await client.query('COMMIT')
    client.release()
    return answer.body
  }

  const server = createServer(async (request, response) => {
    const url = request.url ?? ''
    if (request.method === 'PUT') await request.resume().toArray()
    const text =
      request.method === 'PUT'
        ? await rename()
        : url === '/v3/calls'
          ? await firstPage()
          : await one(url.slice('/v3/calls/'.length))
    response.writeHead(200, [
      'Content-Type',
      'application/json; charset=utf-8',
      'Content-Length',
      String(Buffer.byteLength(text)),
    ])
    response.end(text)
  })
  process.send?.({ plain: await listening(server), secure: 0 })
}

process.once('message', (settings: PostgresFloor) => void serve(settings))
