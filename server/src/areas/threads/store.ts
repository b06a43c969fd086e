import { type RawBuilder, sql } from 'kysely'
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

/** Whether a user follows the thread of a row of `messages`: as they have said, else if the message is their own. */
export function follows(db: TenantDb, uid: string): RawBuilder<0 | 1> {
  return sql<0 | 1>`coalesce((SELECT thread_subscriptions.follows FROM thread_subscriptions
    WHERE thread_subscriptions.app_id = ${db.appId} AND thread_subscriptions.uid = ${uid}
    AND thread_subscriptions.parent_id = messages.id), CASE WHEN messages.sender = ${uid} THEN 1 ELSE 0 END)`
}

export async function isFollowing(db: TenantDb, { id }: MessageRow, uid: string): Promise<boolean> {
  const row = await db
    .select('messages')
    .select(follows(db, uid).as('follows'))
    .where('messages.id', '=', id)
    .executeTakeFirst()
  return row?.follows === 1
}
