import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keysOf, toApiKey } from '../areas/api-keys/index.ts'
import { type AppRow, addApp, addManagementKey, ensureOwner, ownerAccountId } from '../areas/apps/index.ts'
import { playScript } from '../areas/emulator/index.ts'
import { addRole } from '../areas/roles/index.ts'
import { bringUsers } from '../areas/users/index.ts'
import { workIn } from '../common/work-in.ts'
import type { House } from '../compose.ts'
import type { KeyScope } from '../kit/operation.ts'
import { originOf } from '../plain/place.ts'
import type { Connection } from '../storage/connection.ts'
import { demoCalls } from './demo-calls.ts'
import { formDemoGroups, hashDemoPasswords } from './demo-groups.ts'
import { demoRoles, demoUsers } from './demo-people.ts'
import { relateDemoPeople } from './demo-relations.ts'
import { letDemoPeopleTalk } from './demo-talk.ts'

/** What a person or a script needs to make the first call. */
export interface DemoCredentials {
  /** Where a browser finds the chat page. */
  pageUrl: string
  baseUrl: string
  callsBaseUrl: string
  managementUrl: string
  appId: string
  region: string
  apiKey: string
  authKey: string
  managementKey: string
  managementSecret: string
  caFile: string
  port: number
}

const credentialsFile = 'credentials.json'
const demoAppSetting = 'demo app'
const demoTimings = { ringSeconds: 45, leaseSeconds: 60 }

/** Creates the demo app with its people and calls, once; answers its id. */
export async function seedDemo({ database, tools, config }: House): Promise<{ appId: string; created: boolean }> {
  const earlier = await demoAppId(database.reader)
  if (earlier !== undefined) return { appId: earlier, created: false }
  const hashes = await hashDemoPasswords(tools)
  return database.writeAlone(async (connection) => {
    const existing = await demoAppId(connection)
    if (existing !== undefined) return { appId: existing, created: false }
    // History is the same whatever the settings of today.
    const inApp = (appId: string) => workIn(connection, appId, { ...tools, timings: demoTimings })
    await ensureOwner(connection.query, config.domain)
    const app: AppRow = await addApp(connection.query, inApp, {
      name: 'Demo',
      region: config.region,
      accountId: ownerAccountId,
      sampleData: false,
    })
    const work = inApp(app.id)
    const scripts = demoCalls(work.now)
    const firstDay = Math.min(...scripts.map(({ startAt = work.now }) => startAt)) - 24 * 3600
    for (const role of demoRoles) await addRole({ db: work.db, now: firstDay }, role)
    await bringUsers({ ...work, now: firstDay }, demoUsers)
    await relateDemoPeople(work)
    await formDemoGroups({ ...work, now: firstDay }, hashes)
    await letDemoPeopleTalk(work)
    for (const script of scripts) await playScript(work, app.region, script)
    const setting = { name: demoAppSetting, value: app.id }
    await connection.query
      .insertInto('install_settings')
      .values(setting)
      .onConflict((conflict) => conflict.column('name').doUpdateSet(setting))
      .execute()
    return { appId: app.id, created: true }
  })
}

async function demoAppId({ query }: Connection): Promise<string | undefined> {
  const setting = await query
    .selectFrom('install_settings')
    .innerJoin('apps', 'apps.id', 'install_settings.value')
    .select('apps.id')
    .where('install_settings.name', '=', demoAppSetting)
    .where('apps.archived_at', 'is', null)
    .executeTakeFirst()
  return setting?.id
}

/** Addresses and keys of the demo app, written for scripts to `credentials.json`. */
export async function writeCredentials(
  house: House,
  appId: string,
  { port, caFile }: { port: number; caFile: string },
): Promise<DemoCredentials> {
  const { config } = house
  const file = join(config.data, credentialsFile)
  const { domain, region } = config
  const at = (host: string) => originOf({ domain, port }, host)
  const chatOrigin = at(`${appId}.api-${region}`)
  const credentials: DemoCredentials = {
    pageUrl: `${chatOrigin}/demo`,
    baseUrl: `${chatOrigin}/v3`,
    callsBaseUrl: `${at(`${appId}.call-${region}`)}/v3`,
    managementUrl: at('apimgmt'),
    appId,
    region,
    apiKey: await firstKey(house, appId, 'fullAccess'),
    authKey: await firstKey(house, appId, 'authOnly'),
    ...(await managementPair(house, file)),
    caFile,
    port,
  }
  writeFileSync(file, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 })
  return credentials
}

async function firstKey({ database, tools }: House, appId: string, scope: KeyScope): Promise<string> {
  const { db } = workIn(database.reader, appId, tools)
  const rows = await keysOf(db).where('api_keys.scope', '=', scope).execute()
  const oldest = rows.at(-1)
  return oldest ? toApiKey(oldest, tools.secrets).apiKey : ''
}

/** The pair of an earlier start, if it is still at hand; its secret cannot be read back from the database. */
async function managementPair(house: House, file: string) {
  const known = readEarlier(file)
  const stored = known && (await storedPair(house, known.managementKey, known.managementSecret))
  if (stored) return { managementKey: known.managementKey, managementSecret: known.managementSecret }
  const { tools, config } = house
  const pair = await house.database.write(({ query }) =>
    addManagementKey(query, tools.secrets, config.domain, tools.clock.now()),
  )
  return { managementKey: pair.key, managementSecret: pair.secret }
}

async function storedPair({ database, tools }: House, key: string, secret: string): Promise<boolean> {
  const row = await database.reader.query
    .selectFrom('management_keys')
    .select('secret_hash')
    .where('key', '=', key)
    .executeTakeFirst()
  return row?.secret_hash === tools.secrets.fingerprint(secret)
}

function readEarlier(file: string): DemoCredentials | undefined {
  if (!existsSync(file)) return undefined
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
