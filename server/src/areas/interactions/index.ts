import { area } from '../../kit/area.ts'
import { interactionsOf } from '../timeline/index.ts'
import { goalCompleted } from './events.ts'
import { forgetErased, forgetRest, forgetWithMessage } from './followers.ts'
import { forgetUser } from './jobs.ts'
import { operations } from './operations.ts'
import { interactionsWith } from './store.ts'
import { migrations } from './tables.ts'

export const interactions = area({
  name: 'interactions',
  about: 'What people do with the buttons and fields of a message.',
  operations,
  events: [goalCompleted],
  migrations,
  tables: ['interactions'],
  followers: [forgetWithMessage, forgetErased],
  jobs: [forgetRest, forgetUser],
  answers: [interactionsOf.answeredBy(interactionsWith)],
})
