import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { thumbnailKey } from './thumbnails.ts'

export const unusedSeconds = 24 * 3600
const sweepSeconds = 3600
const filesPerBatch = 200
// So few that a slow store is done with them in time.
const filesPerJob = 50

/**
 * Removes files from the store, and what is known of them after that. Where somebody may still be writing, the row stays
 * until they cannot, and what they wrote is removed then.
 */
export const removeFiles = job({
  name: 'files.remove',
  payload: Type.Object({ keys: Type.Array(Type.String()) }),
  attemptsMax: Number.POSITIVE_INFINITY,
  secondsMax: 3600,
  atOnce: { inAll: 4, perDestination: 2 },
  async prepare({ keys }, { db, tools: { files, clock } }) {
    // Looked at before anything is removed: whoever ends writing after this may have written after it was removed.
    const quiet = await unwritten(db, keys, clock.now())
    for (const key of keys) await Promise.all([files.remove(key), files.remove(thumbnailKey(key))])
    return quiet
  },
  async run({ keys }, { db, now }, quiet = []) {
    if (quiet.length > 0) await db.delete('files').where('key', 'in', quiet).where('state', '=', 'doomed').execute()
    const left = await db
      .select('files')
      .select(['files.key', 'files.writing_until'])
      .where('files.key', 'in', keys)
      .execute()
    if (left.length === 0) return undefined
    const againAt = Math.max(now, ...left.map(({ writing_until }) => writing_until))
    return { againAt, payload: { keys: left.map(({ key }) => key) } }
  },
})

/** Those of some doomed files that nobody writes, nor ever will. */
async function unwritten(db: TenantDb, keys: string[], now: number): Promise<string[]> {
  const rows = await db
    .select('files')
    .select('files.key')
    .where('files.key', 'in', keys)
    .where('files.state', '=', 'doomed')
    .where('files.writing_until', '<=', now)
    .execute()
  return rows.map(({ key }) => key)
}

/** Nobody can fetch, claim or write these files from now on; a job removes them. */
export async function doomFiles({ db, later }: Pick<Work, 'db' | 'later'>, keys: string[]): Promise<void> {
  for (let from = 0; from < keys.length; from += filesPerJob) {
    const doomed = await db
      .update('files')
      .set({ state: 'doomed', unused_since: null })
      .where('key', 'in', keys.slice(from, from + filesPerJob))
      // Each is in the hands of one job.
      .where('state', '!=', 'doomed')
      .returning('key')
      .execute()
    const some = doomed.map(({ key }) => key)
    if (some[0] !== undefined) await later(removeFiles, { keys: some }, { key: some[0] })
  }
}

/** Finds files that no message has had for a day: never sent, never finished, or left behind by a crash. */
export const sweepFiles = job({
  name: 'files.sweep',
  payload: Type.Object({}),
  attemptsMax: Number.POSITIVE_INFINITY,
  async run(_, work) {
    const unused = await work.db
      .select('files')
      .select('files.key')
      .where('files.unused_since', '<=', work.now - unusedSeconds)
      .orderBy('files.unused_since')
      .limit(filesPerBatch)
      // Held, so that none is sent meanwhile; whoever is at one now may be sending it.
      .modifyEnd(work.db.takeRows)
      .execute()
    await doomFiles(
      work,
      unused.map(({ key }) => key),
    )
    return { againAt: unused.length === filesPerBatch ? work.now : work.now + sweepSeconds }
  },
})

/** Before an app's rows go, its files must; answers whether there are any left. */
export async function emptyStore(work: Work): Promise<boolean> {
  const { db } = work
  const unharmed = await db
    .select('files')
    .select('files.key')
    .where('files.state', '!=', 'doomed')
    .limit(filesPerBatch)
    .execute()
  await doomFiles(
    work,
    unharmed.map(({ key }) => key),
  )
  return (await db.select('files').select('files.key').limit(1).executeTakeFirst()) !== undefined
}
