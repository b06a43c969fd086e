import { area } from '../../kit/area.ts'
import { maySendMediaTo } from '../files/index.ts'
import { keptContent, listedTo, shownContent } from '../timeline/index.ts'
import { audit } from './audit.ts'
import { messageEvents } from './events.ts'
import { forgetErased, forgetRest } from './followers.ts'
import { isGroupRuled, messagesShownTo } from './hearing.ts'
import { forgetUser } from './jobs.ts'
import { listedFor } from './listed.ts'
import { keptMedia, mayUploadTo, shownMedia } from './media.ts'
import { operations } from './operations.ts'
import { purgeReplies } from './purge.ts'
import { messageRate } from './rates.ts'
import { migrations } from './tables.ts'

// Areas below say more about messages through gates:
//   moderation: beforeSend;  threads: joinThread, isFollowed;  saves: savedIds, savedAt;  reactions: reactionsTo
export { deleteMessage, takeContents } from './change.ts'
export { beforeSend, joinThread, type Proposal, savedIds, type Verdict } from './gates.ts'
export { elementIdMax, elementsIn, goalOf, isGoalMet } from './interactive.ts'
export { type Asking, readStretch, type Stretch } from './list.ts'
export { listedFor } from './listed.ts'
export { sendErrors } from './operations.ts'
export {
  maySayTo,
  refuseAcrossBlock,
  refuseUnread,
  requireScope,
  type Speaker,
  scopeOver,
  speakerFor,
} from './parties.ts'
export { messageRate } from './rates.ts'
export { refuseUntouchable } from './rules.ts'
export { refuseOutsideApp, sendMessage } from './send.ts'
export { requireMessage, seenMessage } from './store.ts'
export { unreadAmong } from './unread-counts.ts'
export { shown } from './view.ts'
export type { WayScope } from './ways.ts'

export const messages = area({
  name: 'messages',
  about: 'What users and groups are told.',
  operations,
  events: messageEvents,
  migrations,
  tables: ['message_tags', 'message_actions'],
  followers: [forgetErased],
  jobs: [purgeReplies, forgetUser, forgetRest],
  rates: [messageRate],
  hearing: { shows: messagesShownTo, isRuled: isGroupRuled },
  audit,
  answers: [
    shownContent.answeredBy(shownMedia),
    keptContent.answeredBy(keptMedia),
    maySendMediaTo.answeredBy(mayUploadTo),
    listedTo.answeredBy((db, viewer) => listedFor(db, viewer)),
  ],
})
