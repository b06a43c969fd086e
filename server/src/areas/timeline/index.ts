import { area } from '../../kit/area.ts'
import { audit } from './audit.ts'
import { timelineEvents } from './events.ts'
import { migrations } from './tables.ts'

export { type Action, type Entity, type WrittenDeed, writeAction, writeDeed } from './actions.ts'
export { audienceFor } from './audience.ts'
export { advance, retreat } from './cursors.ts'
export { Emptied, emptySome, erasuresAtOnce, forgettingMessages, messagesPerBatch, rowsPerBatch } from './erase.ts'
export {
  interactionsOf,
  isFollowed,
  keptContent,
  listedTo,
  type ReactionCount,
  reactionsTo,
  savedAt,
  shownContent,
} from './gates.ts'
export {
  type ConversationKey,
  conversationIdOf,
  otherSide,
  type Place,
  placeOfGroup,
  placeOfKey,
  placeOfUsers,
  placesNamed,
} from './place.ts'
export { settleAll, tellProgress } from './progress.ts'
export { type Receipt, receiptsOf, receiptsOfEach } from './receipts.ts'
export {
  type MessageView,
  messagesOf,
  receiptAt,
  type SeenMessage,
  selectedFor,
  toMessage,
  toMessages,
  visibleTo,
} from './record.ts'
export {
  closeRow,
  findConversation,
  findConversations,
  findRow,
  holdConversation,
  listConversation,
  openConversation,
  openRows,
} from './rows.ts'
export {
  findSide,
  hasManySides,
  hiddenUpTo,
  leaveIfManySides,
  notErased,
  type Side,
  sidesAmong,
  sidesWhere,
  withWhom,
} from './sides.ts'
export type { ConversationRow, MemberRow, MessageRow, ReceiptKind } from './tables.ts'
export { lookedAtMax, type Unread, unreadOf } from './unread.ts'
export { veilFor } from './veil.ts'
export { addMentions, type Draft, messageSentAs, writeMessage } from './write.ts'

export const timeline = area({
  name: 'timeline',
  about:
    'What was said, in order, and how far everyone has come: the ground on which messages and conversations stand.',
  events: timelineEvents,
  migrations,
  tables: ['conversations', 'conversation_rows', 'receipt_marks', 'messages', 'message_mentions'],
  numberedTables: ['messages'],
  audit,
})
