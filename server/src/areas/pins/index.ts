import { area } from '../../kit/area.ts'
import { savedIds } from '../messages/index.ts'
import { savedAt } from '../timeline/index.ts'
import { pinEvents } from './events.ts'
import { forgetErased, forgetRest, forgetUser } from './followers.ts'
import { operations } from './operations.ts'
import { idsSavedBy, whenSavedBy } from './store.ts'
import { migrations } from './tables.ts'

export { pinnedMax, savedMax } from './store.ts'

export const pins = area({
  name: 'pins',
  about: 'Messages that a conversation keeps in view, and those a user keeps for themself.',
  operations,
  events: pinEvents,
  migrations,
  tables: ['saved_messages'],
  followers: [forgetErased],
  jobs: [forgetRest, forgetUser],
  answers: [savedIds.answeredBy(idsSavedBy), savedAt.answeredBy(whenSavedBy)],
})
