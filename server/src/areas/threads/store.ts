import { sql } from 'kysely'
import type { Work } from '../../kit/work.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import type { MessageRow } from '../timeline/index.ts'
import { systemUid } from '../users/index.ts'

/** Makes users follow a thread, or no longer; answers for whom that was put down. */
export async function setFollowing(
  db: TenantDb,
  parentId: number,
  uids: string[],
  follows: boolean,
): Promise<string[]> {
  const rows = uids
    .filter((uid) => uid !== '' && uid !== systemUid)
    .map((uid) => ({ uid, parent_id: parentId, follows: follows ? 1 : 0 }))
  if (rows.length === 0) return []
  const put = await db
    .insert(
      'thread_subscriptions',
      rows.toSorted((a, b) => (a.uid < b.uid ? -1 : 1)),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['app_id', 'uid', 'parent_id'])
        .doUpdateSet({ follows: sql`excluded.follows` })
        .where(sql<boolean>`thread_subscriptions.follows != excluded.follows`),
    )
    .returning('uid')
    .execute()
  return put.map(({ uid }) => uid)
}

/** Who takes part in a thread follows it; that somebody had stopped to does not last. */
export async function joinedThread({ db }: Pick<Work, 'db'>, parent: MessageRow, uids: string[]): Promise<void> {
  await setFollowing(db, parent.id, uids, true)
}

/** Which of some messages begin a thread that the viewer follows. */
export async function threadsFollowed(
  db: TenantDb,
  ids: number[],
  viewer: string | undefined,
): Promise<Map<number, true>> {
  const uid = viewer ?? ''
  const subscriptions = await db
    .select('thread_subscriptions')
    .select(['thread_subscriptions.parent_id', 'thread_subscriptions.follows'])
    .where('thread_subscriptions.uid', '=', uid)
    .where('thread_subscriptions.parent_id', 'in', ids)
    .execute()
  // Asked by id alone: with the sender, PostgreSQL fetched all that the user ever sent.
  const all = await db
    .select('messages')
    .select(['messages.id', 'messages.sender'])
    .where('messages.id', 'in', ids)
    .execute()
  const sent = all.filter(({ sender }) => sender === uid)
  const follows = new Map([
    ...sent.map(({ id }): [number, boolean] => [id, true]),
    ...subscriptions.map((row): [number, boolean] => [row.parent_id, row.follows === 1]),
  ])
  return new Map(ids.filter((id) => follows.get(id)).map((id) => [id, true]))
}
