import { type RawBuilder, sql } from 'kysely'
import { note } from '../../kit/note.ts'
import type { View } from '../../kit/work.ts'
import { eachOf } from '../../storage/sql.ts'

/** Who is connected, as the presence of this node knows it; the rows of users tell nothing of it. */

/** The UIDs of the app's connected users. */
export function onlineIn({ db, tools }: View): ReadonlySet<string> {
  return tools.presence.online(db.appId)
}

// So many are looked up while everybody waits.
const lookedUpSharedMax = 1_000

/** The same as a subquery of one column, for lists; where there are many, the list leaves the shared reader. */
export function uidsOnline(view: View): RawBuilder<unknown> {
  const { db } = view
  const online = onlineIn(view)
  if (online.size > lookedUpSharedMax) db.leaveSharedReader()
  return eachOf(db, [...online])
}

/** When users were last connected; the key is the UID. It is told at coming and going, and changes nothing else of them. */
export const lastActive = note({
  name: 'users.lastActive',
  async write(db, moments) {
    const uids = sql.join(moments.map(({ key: [uid] }) => sql`${uid}`))
    await db.sql`SELECT 1 FROM users WHERE app_id = ${db.appId} AND uid IN (${uids})
      ORDER BY uid ${db.holdRows}`.execute()
    const dated = sql.join(moments.map(({ key: [uid], at }) => sql`(${uid}, CAST(${at} AS bigint))`))
    await db.sql`WITH told (uid, at) AS (VALUES ${dated})
      UPDATE users SET last_active_at = told.at FROM told
      WHERE users.app_id = ${db.appId} AND users.uid = told.uid
        AND coalesce(users.last_active_at, 0) < told.at`.execute()
  },
})
