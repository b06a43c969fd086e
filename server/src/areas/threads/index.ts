import { area } from '../../kit/area.ts'
import { joinThread } from '../messages/index.ts'
import { isFollowed } from '../timeline/index.ts'
import { threadEvents } from './events.ts'
import { forgetErased, forgetRest } from './followers.ts'
import { forgetUser } from './jobs.ts'
import { operations } from './operations.ts'
import { follows, joinedThread } from './store.ts'
import { migrations } from './tables.ts'

export const threads = area({
  name: 'threads',
  about: 'Replies to a message, kept together.',
  operations,
  events: threadEvents,
  migrations,
  tables: ['thread_subscriptions'],
  followers: [forgetErased],
  jobs: [forgetRest, forgetUser],
  answers: [joinThread.answeredBy(joinedThread), isFollowed.answeredBy(follows)],
})
