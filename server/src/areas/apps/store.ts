import { randomBytes } from 'node:crypto'
import type { Filters } from '../../common/page.ts'
import type { Work } from '../../kit/work.ts'
import { type Platform, platformUnder } from '../../storage/platform.ts'
import { contains } from '../../storage/sql.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { addKey, keysOf, toApiKey } from '../api-keys/index.ts'
import { addDefaultRole } from '../roles/index.ts'
import { requireAccount } from './accounts.ts'
import { appArchived, appLimitReached, appNotFound } from './errors.ts'
import { appCreated, appSettingsChanged, appArchived as appWasArchived } from './events.ts'
import { purgeApp } from './jobs.ts'
import type { AppListQuery, AppRecord } from './schemas.ts'
import { readSettings, type StoredSettings, settingsInForce } from './settings.ts'
import type { AccountRow, AppRow } from './tables.ts'

const appIdBytes = 8
const graceSeconds = 30 * 24 * 3600

const regionTexts: Record<string, { name: string; description: string }> = {
  us: { name: 'United States', description: 'Served from the United States' },
  eu: { name: 'Europe', description: 'Served from Europe' },
  in: { name: 'India', description: 'Served from India' },
}

/** An account's apps, newest first. */
export function appsOf(platform: Platform, accountId: number) {
  return platform
    .selectFrom('apps')
    .selectAll()
    .where('apps.account_id', '=', accountId)
    .orderBy('apps.created_at', 'desc')
    .orderBy('apps.id')
}

export const appFilters: Filters<AppListQuery, ReturnType<typeof appsOf>> = {
  searchKey: (rows, part) => rows.where((is) => is.or([contains('apps.id', part), contains('apps.name', part)])),
}

export async function requireApp(platform: Platform, accountId: number, appId: string): Promise<AppRow> {
  const row = await appsOf(platform, accountId).where('apps.id', '=', appId).executeTakeFirst()
  if (!row) throw appNotFound({ appId })
  return row
}

/** The app, unless it waits for its deletion. */
export async function requireActiveApp(platform: Platform, accountId: number, appId: string): Promise<AppRow> {
  const row = await requireApp(platform, accountId, appId)
  if (row.archived_at !== null) throw appArchived({ appId })
  return row
}

/** The app whose rows `db` is fixed to. */
export function appOf(db: TenantDb): Promise<AppRow> {
  return platformUnder(db).selectFrom('apps').selectAll().where('id', '=', db.appId).executeTakeFirstOrThrow()
}

export interface NewApp {
  name: string
  region: string
  accountId: number
  sampleData: boolean
}

/** Creates an app with the two keys and the role that every app begins with. */
export async function addApp(
  platform: Platform,
  inApp: (appId: string) => Work,
  { name, region, accountId, sampleData }: NewApp,
): Promise<AppRow> {
  const id = randomBytes(appIdBytes).toString('hex')
  const work = inApp(id)
  await refuseBeyondQuota(platform, accountId, work.tools.quotas.appsMax)
  const row = await platform
    .insertInto('apps')
    .values({ id, account_id: accountId, name, region, created_at: work.now, archived_at: null })
    .returningAll()
    .executeTakeFirstOrThrow()
  await addKey(work, { name: 'Rest API Key', scope: 'fullAccess', createdBy: 'app_system' })
  await addKey(work, { name: 'Auth Key', scope: 'authOnly', createdBy: 'app_system' })
  await addDefaultRole(work)
  await work.emit(appCreated, { sampleData })
  return row
}

async function refuseBeyondQuota(platform: Platform, accountId: number, max: number | undefined): Promise<void> {
  if (max === undefined) return
  // Changing the account's row makes a second creation wait here until this one can be counted.
  await platform.updateTable('accounts').set({ id: accountId }).where('id', '=', accountId).execute()
  const apps = await appsOf(platform, accountId).where('apps.archived_at', 'is', null).execute()
  if (apps.length >= max) throw appLimitReached({ max })
}

/** Archives the app and answers when it will be gone; archiving it again changes nothing. */
export async function archiveApp(platform: Platform, work: Work, app: AppRow): Promise<number> {
  const archived = await platform
    .updateTable('apps')
    .set({ archived_at: work.now })
    .where('id', '=', app.id)
    .where('archived_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  const { archived_at } = await requireApp(platform, app.account_id, app.id)
  const scheduledToDeleteAt = (archived_at ?? work.now) + graceSeconds
  if (archived) {
    await work.later(purgeApp, {}, { key: app.id, at: scheduledToDeleteAt })
    await work.emit(appWasArchived, { scheduledToDeleteAt })
  }
  return scheduledToDeleteAt
}

/** Changes what is set, and tells what is in force differently now. */
export async function changeSettings(
  platform: Platform,
  work: Work,
  { id }: AppRow,
  change: (set: StoredSettings) => StoredSettings,
): Promise<void> {
  // Of two changes at once the second begins with what the first has left.
  const { settings: before } = await platform
    .updateTable('apps')
    .set({ id })
    .where('id', '=', id)
    .returning('settings')
    .executeTakeFirstOrThrow()
  const set = change(readSettings(before))
  const after = Object.keys(set).length === 0 ? null : JSON.stringify(set)
  await platform.updateTable('apps').set({ settings: after }).where('id', '=', id).execute()
  const earlier = new Map<string, unknown>(Object.entries(settingsInForce(before)))
  const changed = Object.entries(settingsInForce(after)).filter(([key, value]) => earlier.get(key) !== value)
  if (changed.length > 0) await work.emit(appSettingsChanged, { settings: Object.fromEntries(changed) })
}

export async function toAppRecord(platform: Platform, { db, tools }: Work, app: AppRow): Promise<AppRecord> {
  const owner = await requireAccount(platform, app.account_id)
  const keys = await keysOf(db).execute()
  return {
    ...toAppSummary(app),
    plan: 'self-hosted',
    owner: app.account_id,
    appOwner: toOwner(owner),
    appRegion: { id: app.region as AppRecord['region'], ...(regionTexts[app.region] ?? { name: '', description: '' }) },
    apiKeys: Object.fromEntries(
      keys.map((row) => {
        const { apiKey, name, scope } = toApiKey(row, tools.secrets)
        return [apiKey, { apiKey, name, scope, createdBy: row.created_by }]
      }),
    ),
  }
}

/** What an app is called and where it is, without anybody's keys. */
export function toAppSummary(app: AppRow): Pick<AppRecord, 'id' | 'name' | 'state' | 'region' | 'createdAt'> {
  return {
    id: app.id,
    name: app.name,
    state: app.archived_at === null ? 'active' : 'archived',
    region: app.region as AppRecord['region'],
    createdAt: app.created_at,
  }
}

function toOwner({ id, name, email }: AccountRow): AppRecord['appOwner'] {
  return { id: String(id), name, email }
}
