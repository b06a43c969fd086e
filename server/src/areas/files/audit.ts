import type { Audit } from '../../kit/area.ts'
import type { Files } from '../../kit/ports.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { removeFiles, sweepFiles } from './removal.ts'
import type { FileRow } from './tables.ts'
import { originalKey, thumbnailKey } from './thumbnails.ts'

export const audit: Audit = {
  ofApp: async (db) => ({
    'files that nobody needs are going to be removed': await auditRemoval(db),
  }),
  async ofStore(apps, { files }) {
    const { checked, findings } = await auditStore(apps, files)
    return { [`${checked} files are in the store as their rows say, and nothing else is`]: findings }
  },
}

const rowsPerStep = 1_000

interface Named extends Pick<FileRow, 'app_id' | 'key' | 'state' | 'has_thumbnail'> {
  isThere: boolean
  isPictured: boolean
}

/**
 * Compares the store with the rows that name what is in it: those of all apps, at one moment and as they are now. What
 * comes and goes meanwhile is looked at twice.
 */
export async function auditStore(
  apps: { snapshot: TenantDb; present: TenantDb }[],
  store: Files,
): Promise<{ checked: number; findings: string[] }> {
  const named = new Map<string, Named>()
  for (const { snapshot } of apps) for await (const row of rowsIn(snapshot)) named.set(row.key, row)
  const unnamed = new Set<string>()
  for await (const name of store.list()) {
    const [own, pictured] = [named.get(name), named.get(originalKey(name))]
    if (own) own.isThere = true
    else if (pictured) pictured.isPictured = true
    else unnamed.add(name)
  }
  const present = new Map(apps.map((app) => [app.present.appId, app.present]))
  const findings = (await stillUnnamed(unnamed, [...present.values()], store)).map(
    (name) => `${name} is in the store and no row names it`,
  )
  for (const row of named.values()) {
    const db = present.get(row.app_id)
    for (const key of db ? missing(row) : []) {
      if (db && (await isStillMissing(db, row.key, key, store))) {
        findings.push(`app ${row.app_id}: ${key} is not in the store`)
      }
    }
  }
  return { checked: named.size, findings }
}

async function* rowsIn(db: TenantDb): AsyncGenerator<Named> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows: Omit<Named, 'isThere' | 'isPictured'>[] = await db
      .select('files')
      .select(['files.app_id', 'files.key', 'files.state', 'files.has_thumbnail'])
      .where('files.key', '>', after)
      .orderBy('files.key')
      .limit(rowsPerStep)
      .execute()
    for (const row of rows) yield { ...row, isThere: false, isPictured: false }
    after = rows.at(-1)?.key
  }
}

/** What is there although its row is gone; a row goes only after its content. */
async function stillUnnamed(suspects: Set<string>, apps: TenantDb[], store: Files): Promise<string[]> {
  const left = new Set(suspects)
  const names = [...suspects]
  for (let from = 0; from < names.length; from += rowsPerStep) {
    const some = names.slice(from, from + rowsPerStep)
    for (const db of apps) {
      const known = new Set(await keysAmong(db, [...new Set(some.map(originalKey))]))
      for (const name of some) if (known.has(originalKey(name))) left.delete(name)
    }
  }
  const found = new Set<string>()
  if (left.size > 0) for await (const name of store.list()) if (left.has(name)) found.add(name)
  return [...found]
}

async function keysAmong(db: TenantDb, keys: string[]): Promise<string[]> {
  const rows = await db.select('files').select('files.key').where('files.key', 'in', keys).execute()
  return rows.map(({ key }) => key)
}

function missing({ key, state, has_thumbnail, isThere, isPictured }: Named): string[] {
  if (state !== 'stored') return []
  return [...(isThere ? [] : [key]), ...(has_thumbnail === 1 && !isPictured ? [thumbnailKey(key)] : [])]
}

/** Content goes only after its row says so. */
async function isStillMissing(db: TenantDb, fileKey: string, key: string, store: Files): Promise<boolean> {
  const content = await store.get(key)
  content?.destroy()
  if (content) return false
  const row = await db
    .select('files')
    .select('files.key')
    .where('files.key', '=', fileKey)
    .where('files.state', '=', 'stored')
    .executeTakeFirst()
  return row !== undefined
}

/** Files of an app that nobody needs and that no job will remove. Hand it a snapshot. */
export async function auditRemoval(db: TenantDb): Promise<string[]> {
  const jobs = await db
    .select('jobs')
    .select(['jobs.name', 'jobs.payload'])
    .where('jobs.name', 'in', [removeFiles.name, sweepFiles.name])
    .where('jobs.dead_at', 'is', null)
    .execute()
  const removed = new Set(
    jobs.filter(({ name }) => name === removeFiles.name).flatMap(({ payload }): string[] => JSON.parse(payload).keys),
  )
  const isSwept = jobs.some(({ name }) => name === sweepFiles.name)
  const rows = await db
    .select('files')
    .select(['files.key', 'files.state'])
    .where((is) => is.or([is('files.state', '=', 'doomed'), is('files.unused_since', 'is not', null)]))
    .execute()
  return rows
    .filter(({ key, state }) => (state === 'doomed' ? !removed.has(key) : !isSwept))
    .map(({ key }) => `nobody needs the file ${key}, and no job removes it`)
}
