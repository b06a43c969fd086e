import { randomBytes } from 'node:crypto'
import type { ReceivedFile } from '../../kit/operation.ts'
import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { doomFiles, sweepFiles, unusedSeconds } from './removal.ts'
import type { FileRow } from './tables.ts'
import { canBePictured, makeThumbnail } from './thumbnails.ts'
import { receivingUntil } from './writers.ts'

const keyBytes = 18

export interface NewFile {
  state: 'announced' | 'receiving'
  name: string
  mimeType: string
  extension: string
  size: number
  uploader: string | undefined
}

/** Notes a file before its content comes; answers the key that content is to be stored under. */
export async function addFile({ db, now, later }: Work, file: NewFile): Promise<string> {
  const key = randomBytes(keyBytes).toString('base64url')
  const { state, name, mimeType: mime, extension, size, uploader = null } = file
  const shape = { width: null, height: null, has_thumbnail: 0 }
  const writing_until = state === 'receiving' ? receivingUntil(now) : 0
  await db
    .insert('files', {
      ...{ key, state, name, mime, extension, size, uploader, created_at: now, unused_since: now, writing_until },
      ...shape,
    })
    .execute()
  await later(sweepFiles, {}, { key: 'sweep', at: now + unusedSeconds })
  return key
}

/** The content is there, whole; only now can the file be fetched and claimed. */
export async function keepFile({ db, later }: Work, file: Omit<ReceivedFile, 'name'>): Promise<void> {
  const { key, mimeType: mime, extension, size } = file
  const kept = await db
    .update('files')
    .set({ state: 'stored', mime, extension, size, writing_until: 0 })
    .where('key', '=', key)
    .where('state', '=', 'receiving')
    .returning('key')
    .executeTakeFirst()
  if (!kept) throw new Error(`The file ${key} was removed while it came in.`)
  if (canBePictured(mime, size)) await later(makeThumbnail, { key }, { key })
}

/** A file that can be fetched. */
export async function findStoredFile(db: TenantDb, key: string): Promise<FileRow | undefined> {
  return db
    .select('files')
    .selectAll('files')
    .where('files.key', '=', key)
    .where('files.state', '=', 'stored')
    .executeTakeFirst()
}

/**
 * A message has these files from now on. Answers those that are there and whole; the rest were never uploaded, or are
 * gone.
 */
export async function claimFiles(db: TenantDb, keys: string[], messageId: number): Promise<ReceivedFile[]> {
  const held = await holdFiles(db, keys)
  const found = held.filter(({ state }) => state === 'stored').map(toReceived)
  const claimed = found.map(({ key }) => key)
  if (claimed.length === 0) return []
  await db.update('files').set({ unused_since: null }).where('key', 'in', claimed).execute()
  await db
    .insert(
      'file_uses',
      claimed.map((key) => ({ message_id: messageId, key })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return found
}

/** Messages are gone: files that no other message has go after them. */
export async function releaseFiles(work: Pick<Work, 'db' | 'later'>, messageIds: number[]): Promise<void> {
  const { db } = work
  if (messageIds.length === 0) return
  const uses = await db
    .select('file_uses')
    .select('file_uses.key')
    .where('file_uses.message_id', 'in', messageIds)
    .execute()
  const keys = [...new Set(uses.map(({ key }) => key))]
  if (keys.length === 0) return
  await holdFiles(db, keys)
  await db.delete('file_uses').where('message_id', 'in', messageIds).execute()
  const stillUsed = new Set(await usedAmong(db, keys))
  await doomFiles(
    work,
    keys.filter((key) => !stillUsed.has(key)),
  )
}

/** Those of some files that a message has; one may have been forwarded to very many. */
async function usedAmong(db: TenantDb, keys: string[]): Promise<string[]> {
  const rows = await db
    .select('files')
    .select('files.key')
    .where('files.key', 'in', keys)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('file_uses')
          .select('file_uses.key')
          .whereRef('file_uses.app_id', '=', 'files.app_id')
          .whereRef('file_uses.key', '=', 'files.key'),
      ),
    )
    .execute()
  return rows.map(({ key }) => key)
}

/** Keeps other transactions from these files; always in the same order, so that no two wait for each other. */
async function holdFiles(db: TenantDb, keys: string[]): Promise<FileRow[]> {
  if (keys.length === 0) return []
  return db
    .select('files')
    .selectAll('files')
    .where('files.key', 'in', keys)
    .orderBy('files.key')
    .modifyEnd(db.holdRows)
    .execute()
}

/** The files under these keys that are there and whole. */
export async function storedFiles(db: TenantDb, keys: string[]): Promise<Map<string, ReceivedFile>> {
  if (keys.length === 0) return new Map()
  const rows = await db
    .select('files')
    .selectAll('files')
    .where('files.key', 'in', keys)
    .where('files.state', '=', 'stored')
    .execute()
  return new Map(rows.map((row) => [row.key, toReceived(row)]))
}

function toReceived({ key, name, mime, extension, size }: FileRow): ReceivedFile {
  return { key, name, mimeType: mime, extension, size }
}
