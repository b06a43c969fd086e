import { type Kysely, sql } from 'kysely'
import type { JobRow, Tables } from '../../storage/tables.ts'
import { type ConversationKey, type Place, placesNamed } from '../timeline/index.ts'

/**
 * Jobs that clear conversations named them by their id on the wire, and several can have been stored under one. All of
 * these were gone for everyone up to the same number, so each of them is cleared up to there.
 */
export async function giveKeysToJobs(database: Kysely<Tables>): Promise<void> {
  const apps = await database.selectFrom('apps').select('id').execute()
  for (const { id } of apps) {
    await eachJob(database, id, ['conversations.empty', 'conversations.deleteMessages'], async (job) => {
      const { conversationId, ...rest } = JSON.parse(job.payload)
      await database.deleteFrom('jobs').where('app_id', '=', id).where(isJob(job)).execute()
      for (const key of await keysOf(database, id, placesNamed(conversationId))) await queue(database, job, key, rest)
    })
    // Users whose conversation was stored with a group's, which is being removed.
    await eachJob(database, id, ['groups.clear'], async (job) => {
      const { guid, voidUpTo: upTo } = JSON.parse(job.payload)
      const ofUsers = placesNamed(`group_${guid}`).filter(({ type }) => type === 'user')
      if (upTo === undefined) return
      const clearing = { ...job, name: 'conversations.empty' }
      for (const key of await keysOf(database, id, ofUsers)) await queue(database, clearing, key, { upTo })
    })
  }
}

const jobsAtOnce = 100

async function eachJob(
  database: Kysely<Tables>,
  appId: string,
  names: string[],
  take: (job: JobRow) => Promise<void>,
): Promise<void> {
  for (const name of names) {
    for (let after = ''; ; ) {
      const jobs = await database
        .selectFrom('jobs')
        .selectAll()
        .where('app_id', '=', appId)
        .where('name', '=', name)
        .where('key', '>', after)
        // What was queued here already has a key.
        .where('payload', 'not like', '%"conversationKey"%')
        .orderBy('key')
        .limit(jobsAtOnce)
        .execute()
      for (const job of jobs) await take(job)
      const last = jobs.at(-1)
      if (!last) break
      after = last.key
    }
  }
}

const isJob = ({ name, key }: JobRow) => sql<boolean>`name = ${name} AND key = ${key}`

/** Those of some conversations that are there. */
async function keysOf(database: Kysely<Tables>, appId: string, places: Place[]): Promise<ConversationKey[]> {
  if (places.length === 0) return []
  const rows = await database
    .selectFrom('conversations')
    .select('conversation_key')
    .where('app_id', '=', appId)
    .where(
      'conversation_key',
      'in',
      places.map(({ conversationKey }) => conversationKey),
    )
    .execute()
  return rows.map(({ conversation_key }) => conversation_key)
}

async function queue(
  database: Kysely<Tables>,
  job: JobRow,
  conversationKey: ConversationKey,
  rest: { upTo: number },
): Promise<void> {
  const payload = JSON.stringify({ conversationKey, ...rest })
  await database
    .insertInto('jobs')
    .values({ ...job, key: `${conversationKey} ${rest.upTo}`, payload })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
