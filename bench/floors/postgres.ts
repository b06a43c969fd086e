import { createServer } from 'node:http'
import postgres from 'postgres'
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

async function serve(settings: PostgresFloor): Promise<void> {
  const { appId, answer } = settings
  const sql = postgres(settings.url, {
    max: settings.connections,
    onnotice: () => {},
    types: { number: { to: bigintOid, from: [bigintOid], serialize: String, parse: Number } },
  })

  async function one(sessionId: string): Promise<string> {
    const [row] = await sql`
      SELECT session_id, live, document, transcriptions, extras FROM calls
      WHERE app_id = ${appId} AND session_id = ${sessionId}`
    return `{"data":${row?.document.slice(0, -1)},${row?.extras}}}`
  }

  async function firstPage(): Promise<string> {
    const [tally] = await sql`
      SELECT n FROM tallies
      WHERE app_id = ${appId} AND list = 'calls' AND level = 0 AND bucket = 0 AND facets = '*'`
    const rows = await sql`
      SELECT session_id, live, document, transcriptions FROM calls
      WHERE app_id = ${appId} AND initiated_at < ${Number.MAX_SAFE_INTEGER}
      ORDER BY initiated_at DESC, session_id LIMIT ${100} OFFSET ${0}`
    const pagination = { total: tally?.n, count: rows.length, per_page: 100, current_page: 1, total_pages: 1 }
    const documents = rows.map(({ document }) => document).join(',')
    return `{"data":[${documents}],"meta":{"pagination":${JSON.stringify(pagination)}}}`
  }

  async function rename(): Promise<string> {
    const { fingerprint, name } = settings
    const now = Math.floor(Date.now() / 1000)
    await sql.begin(async (tx) => {
      await tx`SELECT * FROM api_keys WHERE app_id = ${appId} AND fingerprint = ${fingerprint}`
      await tx`
        INSERT INTO locks (app_id, name) VALUES (${appId}, 'api-keys')
        ON CONFLICT (app_id, name) DO UPDATE SET name = 'api-keys'`
      await tx`SELECT name FROM api_keys WHERE app_id = ${appId} AND fingerprint != ${fingerprint}`
      await tx`
        UPDATE api_keys SET name = ${name}, updated_at = ${now}
        WHERE app_id = ${appId} AND fingerprint = ${fingerprint} RETURNING *`
      await tx`
        INSERT INTO events (app_id, name, payload, at)
        VALUES (${appId}, 'apiKey.updated', ${JSON.stringify({ name, scope: 'authOnly' })}, ${now})`
    })
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
