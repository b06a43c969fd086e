import { execFileSync } from 'node:child_process'
import { request } from 'node:https'
import { sql } from 'kysely'
import { Done, done } from '../../server/src/common/reply.ts'
import { area } from '../../server/src/kit/area.ts'
import { operation } from '../../server/src/kit/operation.ts'
import type { TenantDb } from '../../server/src/storage/tenant.ts'
import { connectionUnder } from '../../server/src/storage/underneath.ts'
import type { DatabaseName } from './databases.ts'
import type { AppClient, House } from './house.ts'

/** Reads that never end by themselves, and how to see what becomes of them. */

const endless: Record<DatabaseName, ReturnType<typeof sql>> = {
  sqlite: sql`WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted) SELECT count(*) FROM counted`,
  postgres: sql`SELECT pg_sleep(3600)`,
}

// Each takes a moment, all of them together much longer than a request of anybody else.
const chainLength = 300
const moment = sql`WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 20000)
  SELECT count(*) FROM counted`

async function runChain({ db }: { db: TenantDb }) {
  for (let n = 0; n < chainLength; n += 1) await moment.execute(connectionUnder(db).query)
  return done('The chain has an end.')
}

const common = { doors: ['server' as const], onBehalfOf: 'optional' as const, mayTakeLong: true as const, reply: Done }

/** An area with a read that takes forever, and one that is soon done but may take long; how many were asked and begun. */
export function probesOn(database: DatabaseName) {
  let asked = 0
  let begun = 0
  const probes = area({
    name: 'probes',
    about: 'For this test.',
    operations: [
      operation({
        ...common,
        id: 'readForever',
        route: 'GET /forever',
        summary: 'Never ends',
        async run({ db }) {
          asked += 1
          db.leaveSharedReader()
          begun += 1
          await endless[database].execute(connectionUnder(db).query)
          return done('Forever is over.')
        },
      }),
      operation({
        ...common,
        id: 'readLong',
        route: 'GET /long',
        summary: 'May take long',
        async run({ db }) {
          asked += 1
          db.leaveSharedReader()
          await sql`SELECT 1`.execute(connectionUnder(db).query)
          return done('It was not that long.')
        },
      }),
      operation({ ...common, id: 'readChain', route: 'GET /chain', summary: 'Many statements', run: runChain }),
      operation({ ...common, id: 'writeChain', route: 'POST /chain', summary: 'The same in a write', run: runChain }),
    ],
  })
  return { probes, asked: () => asked, begun: () => begun }
}

export interface Asked {
  /** The status of the answer; nothing, where the connection ended before. */
  answered: Promise<number | undefined>
  isAnswered(): boolean
  /** Goes away without waiting for the answer. */
  leave(): void
}

/** Asks on a connection of its own, so that one can leave. */
export function ask({ service }: House, app: AppClient, path: string, uid?: string, method = 'GET'): Asked {
  let isAnswered = false
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  const asking = request(
    {
      agent: false,
      method,
      host: '127.0.0.1',
      port: service.port,
      servername: app.host,
      path: `/v3${path}`,
      rejectUnauthorized: false,
      headers: {
        host: `${app.host}:${service.port}`,
        apikey: app.apiKey,
        ...(uid !== undefined && { onbehalfof: uid }),
      },
    },
    (response) => {
      response.resume()
      response.on('end', () => {
        isAnswered = true
        resolve(response.statusCode)
      })
    },
  )
  asking.on('error', () => resolve(undefined))
  asking.end()
  return { answered: promise, isAnswered: () => isAnswered, leave: () => asking.destroy() }
}

/** The reader processes of a server, by their ids. */
export function readersOf(pid = process.pid): number[] {
  const lines = execFileSync('ps', ['-axo', 'pid=,ppid=,stat=,command='], { encoding: 'utf8' }).split('\n')
  return lines
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [])
    .filter(([, , parent, state = '', command = '']) => {
      return Number(parent) === pid && !state.startsWith('Z') && command.includes('sqlite-reader.ts')
    })
    .map(([, id]) => Number(id))
}
