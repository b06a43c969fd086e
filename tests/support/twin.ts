import { sql } from 'kysely'
import { areas } from '../../server/src/areas/index.ts'
import { documentedPath } from '../../server/src/http/openapi.ts'
import type { Area } from '../../server/src/kit/area.ts'
import type { Operation } from '../../server/src/kit/operation.ts'
import { houseTables, type TenantTable } from '../../server/src/storage/tables.ts'
import type { Dump } from './dump.ts'
import { type AppClient, assertSucceeds, type House } from './house.ts'
import type { Answer, Sending } from './http.ts'
import { filledPath, plausibleBodies, recordsOfEveryKind } from './samples.ts'
import { acrossApps } from './tripwire.ts'

/** Apps with the very same records: nothing that is done in one of them may show in the other. */

/** These answer for the install, not for an app. */
const aboutTheInstall = ['listApps', 'createApp', 'readClock', 'setClock', 'resetClock']

/** An app that holds something of every kind, and how to name what it holds. */
export interface Model {
  appId: string
  records: Record<string, string>
  /** The token of a user named `client`. */
  authToken: string
}

/** Sends a request to an app with credentials that the operation takes. */
export function sendAs(
  { client, management: { key, secret } }: House,
  operation: Operation,
  app: AppClient,
  authToken: string,
  path: string,
  sending: Sending = {},
): Promise<Answer> {
  const isManagement = operation.door === 'management'
  const ofApp =
    operation.doors.includes('server') && operation.onBehalfOf !== 'required' ? { apikey: app.apiKey } : { authToken }
  const headers = isManagement ? { key, secret } : ofApp
  return client.send(isManagement ? 'apimgmt.localhost' : app.host, path, {
    method: operation.method,
    headers,
    ...sending,
  })
}

/** Makes a record for every parameter there is, then does with them whatever adds or changes something. */
export async function modelApp(house: House): Promise<Model> {
  const app = await house.app('model')
  const client = { uid: 'client', name: 'Client', withAuthToken: true }
  const { authToken } = assertSucceeds(await app.post('/users', client)).data
  const records: Record<string, string> = { ...(await recordsOfEveryKind({ house, app })), appId: app.id }
  for (const [area, operation] of operationsOfApps()) {
    if (operation.door === 'management' || !operation.hasBody || operation.method === 'DELETE') continue
    const path = filledPath(documentedPath(area, operation), records)
    for (const body of bodiesOf(operation)) await sendAs(house, operation, app, authToken, path, body)
  }
  const team = { admins: ['sample@acme.example'] }
  assertSucceeds(await house.management.post(`/apps/${app.id}/collaborators`, team))
  // A member that can be read; some of these took the tags away.
  assertSucceeds(await app.post(`/groups/${records.guid}/members`, { participants: [records.uid] }))
  assertSucceeds(await app.put(`/users/${records.uid}`, { tags: ['sample'] }))
  assertSucceeds(await app.put(`/groups/${records.guid}`, { tags: ['sample'] }))
  await house.settle()
  return { appId: app.id, records, authToken }
}

/** Bodies to try: those that are plausible, and these with every switch turned. */
export function bodiesOf(operation: Operation): Pick<Sending, 'body'>[] {
  if (!operation.hasBody) return [{}]
  return plausibleBodies(operation).flatMap((make) => {
    const turned = Object.entries(make()).map(([name, value]) => [name, typeof value === 'boolean' ? !value : value])
    return [{ body: make() }, { body: Object.fromEntries(turned) }]
  })
}

/**
 * Messages are numbered through the whole install, so no two apps can hold the same ones, and what hangs on a message
 * cannot be copied with it. These areas are held apart by the tripwire and by their own tests.
 */
const withMessages = ['timeline', 'files', 'messages', 'conversations', 'reactions', 'threads', 'pins', 'interactions']

/** Areas whose records two apps can hold alike. */
export const copiedAreas = areas.filter(({ name }) => !withMessages.includes(name))

function operationsOfApps(): [Area, Operation][] {
  const all = copiedAreas.flatMap((area) => area.operations.map((operation): [Area, Operation] => [area, operation]))
  return all.filter(([, { id }]) => !aboutTheInstall.includes(id))
}

const recordTables: TenantTable[] = ['tallies', 'search_entries', ...copiedAreas.flatMap(({ tables }) => tables)]

/** Gives one app the records of another, with their ids and secrets; the API keys that it was born with stay. */
export async function copyRecords({ service }: House, from: string, to: string): Promise<void> {
  await acrossApps(() =>
    service.house.database.write(async ({ query }) => {
      for (const name of recordTables) {
        const table = sql.table(name)
        if (name !== 'api_keys') await sql`DELETE FROM ${table} WHERE app_id = ${to}`.execute(query)
        const { rows } = await sql<object>`SELECT * FROM ${table} WHERE app_id = ${from} LIMIT 1`.execute(query)
        const columns = Object.keys(rows[0] ?? {}).filter((column) => column !== 'app_id')
        if (columns.length === 0) continue
        const copied = sql.join(columns.map((column) => sql.ref(column)))
        await sql`INSERT INTO ${table} (app_id, ${copied}) SELECT CAST(${to} AS text), ${copied} FROM ${table}
          WHERE app_id = ${from} ON CONFLICT DO NOTHING`.execute(query)
      }
    }),
  )
}

// Signs of life are those of calls that go on, and these change by themselves.
const emptyOnPurpose = ['call_signs']

/** The tables of which an app has no row; what is tried with it says nothing about these. */
export async function emptyTables(house: House, appId: string): Promise<string[]> {
  const rows = await tenantRows(house, appId)
  return recordTables.filter((table) => rows[table]?.length === 0 && !emptyOnPurpose.includes(table))
}

/** Every row of one app. */
export async function tenantRows({ service }: House, appId: string): Promise<Dump> {
  const { query } = service.house.database.reader
  const contents: Dump = {}
  for (const table of new Set([...houseTables, ...recordTables])) {
    const { rows } = await sql<object>`SELECT * FROM ${sql.table(table)} WHERE app_id = ${appId}`.execute(query)
    contents[table] = rows.map((row) => JSON.stringify(row)).toSorted()
  }
  const { rows } = await sql<object>`SELECT * FROM apps WHERE id = ${appId}`.execute(query)
  return { ...contents, apps: rows.map((row) => JSON.stringify(row)) }
}

/** What an app answers to everything that can be read of it, or of one area, by path. */
export async function answersOf(
  house: House,
  app: AppClient,
  { records, authToken }: Model,
  only?: Area,
): Promise<Dump> {
  const answers: Dump = {}
  const reads = operationsOfApps().filter(([area, { method }]) => method === 'GET' && (!only || area === only))
  for (const [area, operation] of reads) {
    const path = filledPath(documentedPath(area, operation), { ...records, appId: app.id })
    const answer = await sendAs(house, operation, app, authToken, path)
    assertSucceeds(answer)
    answers[path] = [answer.text]
  }
  return answers
}
