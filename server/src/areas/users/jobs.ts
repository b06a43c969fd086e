import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import { userUpdated } from './events.ts'
import { resetRoles, toUser, usersWithRole } from './store.ts'

const usersAtATime = 100

/** Gives everyone who had a deleted role the default one, some at a time. */
export const leaveDeletedRole = job({
  name: 'users.leaveDeletedRole',
  payload: Type.Object({ role: Type.String(), roleId: Type.String() }),
  attemptsMax: Number.POSITIVE_INFINITY,
  bulk: true,
  async run({ role, roleId }, work) {
    const rows = await usersWithRole(work.db, role, roleId, usersAtATime)
    for (const row of await resetRoles(work, rows)) await work.emit(userUpdated, { user: toUser(row) })
    return rows.length < usersAtATime ? undefined : { againAt: work.now }
  },
})
