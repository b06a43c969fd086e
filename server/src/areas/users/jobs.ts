import { sql } from 'kysely'
import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import { deleteSome } from '../../storage/sql.ts'
import { userUpdated } from './events.ts'
import { forgetting } from './forget.ts'
import { resetRoles, toUser, usersWithRole } from './store.ts'

const usersAtATime = 100
const repliesAtATime = 500

/** Under which name the replies to a user's client are kept. */
export function repliesToUser(uid: string): string {
  return `user ${uid}`
}

/** What a user's client was answered, and might ask for again, is not for the next one of the UID. */
export const forgetReplies = forgetting('users', async ({ db }, { uid, after }) => {
  const theirs = sql`idempotent_replies.caller = ${repliesToUser(uid)}`
  const left = await deleteSome(db, 'idempotent_replies', repliesAtATime, theirs)
  return left > 0 ? { after } : undefined
})

/** Gives everyone who had a deleted role the default one, some at a time. */
export const leaveDeletedRole = job({
  name: 'users.leaveDeletedRole',
  payload: Type.Object({ role: Type.String(), roleId: Type.String() }),
  attemptsMax: Number.POSITIVE_INFINITY,
  bulk: true,
  async run({ role, roleId }, work) {
    const rows = await usersWithRole(work.db, role, roleId, usersAtATime)
    for (const row of await resetRoles(work, rows)) {
      await work.emit(userUpdated, { user: toUser(work, row), oldRole: role })
    }
    return rows.length < usersAtATime ? undefined : { againAt: work.now }
  },
})
