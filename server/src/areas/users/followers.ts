import { follower } from '../../kit/follower.ts'
import { appCreated } from '../apps/events.ts'
import { roleDeleted } from '../roles/events.ts'
import { leaveDeletedRole } from './jobs.ts'
import { bringUsers } from './store.ts'

const sampleUsers = [
  { uid: 'nora', name: 'Nora Lind' },
  { uid: 'milo', name: 'Milo Brandt' },
  { uid: 'amara', name: 'Amara Okafor' },
  { uid: 'kenji', name: 'Kenji Mori' },
  { uid: 'priya', name: 'Priya Raman' },
]

/** A new app that asked for sample data gets a few people. */
export const addSampleUsers = follower({
  name: 'users.samples',
  on: [appCreated],
  async handle({ payload, at }, work) {
    if (payload.sampleData) await bringUsers({ ...work, now: at }, sampleUsers)
  },
})

/** Every user has a role that exists. */
export const followDeletedRoles = follower({
  name: 'users.deletedRoles',
  on: [roleDeleted],
  async handle({ payload: { role, id } }, { later }) {
    await later(leaveDeletedRole, { role: role.role, roleId: id }, { key: id })
  },
})
