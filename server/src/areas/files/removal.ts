import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import type { Work } from '../../kit/work.ts'
import { thumbnailKey } from './thumbnails.ts'

export const unusedSeconds = 24 * 3600
const sweepSeconds = 3600
const filesPerBatch = 200
// So few that a slow store is done with them while the job is still this worker's.
const filesPerJob = 50

/** Removes files from the store, and what is known of them after that. */
export const removeFiles = job({
  name: 'files.remove',
  payload: Type.Object({ keys: Type.Array(Type.String()) }),
  attemptsMax: Number.POSITIVE_INFINITY,
  async prepare({ keys }, { tools: { files } }) {
    for (const key of keys) await Promise.all([files.remove(key), files.remove(thumbnailKey(key))])
  },
  async run({ keys }, { db }) {
    await db.delete('files').where('key', 'in', keys).where('state', '=', 'doomed').execute()
    return undefined
  },
})

/** Nobody can fetch or claim these files from now on; a job removes them. */
export async function doomFiles({ db, later }: Pick<Work, 'db' | 'later'>, keys: string[]): Promise<void> {
  for (let from = 0; from < keys.length; from += filesPerJob) {
    const some = keys.slice(from, from + filesPerJob)
    await db.update('files').set({ state: 'doomed', unused_since: null }).where('key', 'in', some).execute()
    await later(removeFiles, { keys: some }, { key: some[0] ?? '' })
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
  const left = await work.db.select('files').select(['files.key', 'files.state']).limit(filesPerBatch).execute()
  await doomFiles(
    work,
    left.filter(({ state }) => state !== 'doomed').map(({ key }) => key),
  )
  return left.length > 0
}
