import { area } from '../../kit/area.ts'
import { reactionsTo } from '../timeline/index.ts'
import { reactionAdded, reactionRemoved } from './events.ts'
import { forgetErased, forgetRest, forgetWithMessage } from './followers.ts'
import { forgetUser } from './jobs.ts'
import { operations } from './operations.ts'
import { countsOf } from './store.ts'
import { migrations } from './tables.ts'

export { reactTo } from './store.ts'

export const reactions = area({
  name: 'reactions',
  about: 'What people feel about a message, in one sign.',
  operations,
  events: [reactionAdded, reactionRemoved],
  migrations,
  tables: ['reactions', 'reaction_counts'],
  numberedTables: ['reactions'],
  followers: [forgetWithMessage, forgetErased],
  jobs: [forgetRest, forgetUser],
  answers: [reactionsTo.answeredBy(countsOf)],
})
