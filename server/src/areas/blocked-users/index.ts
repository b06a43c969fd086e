import { area } from '../../kit/area.ts'
import { blocksBetween, uidsBlockedBy, uidsBlockedWith } from '../users/index.ts'
import { userBlocked, userUnblocked } from './events.ts'
import { forgetDeletedUsers } from './followers.ts'
import { forgetDeletedUser } from './jobs.ts'
import { operations } from './operations.ts'
import { blocksWith, uidsBlocked, uidsWithBlock } from './store.ts'
import { migrations } from './tables.ts'

export { block } from './acts.ts'
export { refusalTo } from './rules.ts'
export { blockedPairs, blocksOf, relationBetween } from './store.ts'

export const blockedUsers = area({
  name: 'blocked-users',
  about: 'Who has shut out whom.',
  operations,
  events: [userBlocked, userUnblocked],
  migrations,
  tables: ['blocks'],
  followers: [forgetDeletedUsers],
  jobs: [forgetDeletedUser],
  answers: [
    blocksBetween.answeredBy(blocksWith),
    uidsBlockedWith.answeredBy(uidsWithBlock),
    uidsBlockedBy.answeredBy(uidsBlocked),
  ],
})
