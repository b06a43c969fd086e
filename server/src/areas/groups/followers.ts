import { follower } from '../../kit/follower.ts'
import { appCreated } from '../apps/events.ts'
import { userDeleted } from '../users/events.ts'
import { forgetDeletedUser } from './jobs.ts'
import { addMissingGroups } from './store.ts'

/** A new app that asked for sample data gets a group. */
export const addSampleGroup = follower({
  name: 'groups.samples',
  on: [appCreated],
  async handle({ payload, at }, { db }) {
    if (payload.sampleData) await addMissingGroups(db, [{ guid: 'design-team', name: 'Design team' }], at)
  },
})

/** A user who is gone for good is in no group. */
export const followDeletedUsers = follower({
  name: 'groups.deletedUsers',
  on: [userDeleted],
  async handle({ payload: { uid, id } }, { later }) {
    await later(forgetDeletedUser, { uid, id }, { key: id })
  },
})
