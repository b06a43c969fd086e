import { follower } from '../../kit/follower.ts'
import { appCreated } from '../apps/events.ts'
import { bringGroups } from './store.ts'

/** A new app that asked for sample data gets a group. */
export const addSampleGroup = follower({
  name: 'groups.samples',
  on: [appCreated],
  async handle({ payload, at }, work) {
    if (payload.sampleData) await bringGroups({ ...work, now: at }, [{ guid: 'design-team', name: 'Design team' }])
  },
})
