import { partnerAt } from '../../../bench/load-messages.ts'
import { type Abuses, turn } from './abuse.ts'
import { foldingWords, shortWords, tags, words } from './largest.ts'
import { abuserAt, busyUser, club, guestsCount, host, partners } from './people.ts'

const perPage = 1_000
const conversationsCount = 2_000

const views = { withTags: true, withUserAndGroupTags: true, withBlockedInfo: true, includeBlockedUsers: true, perPage }
const filters = { unread: true, tags: words('a'), userTags: words('b'), groupTags: words('c') }

// With these, one user has a conversation of which nothing is read.
const unreadFrom = (n: number) => ({ uid: partnerAt(n % conversationsCount) })

export const conversations: Abuses = {
  listConversations: [
    {
      most: 'all conversations of one who has very many, for their unread ones, with all that can be shown',
      ask: (_, n) => ({ as: busyUser, query: { ...views, unread: true, page: 1 + (n % 40) } }),
    },
    {
      most: 'every filter there is, of which none finds anything',
      ask: () => ({ as: busyUser, query: { ...views, ...filters } }),
    },
    {
      most: 'a letter that nearly all names have, and a page far from the beginning',
      ask: () => ({ as: host, query: { ...views, searchKey: 'a', page: guestsCount / 50 } }),
    },
    {
      most: 'many short words, each of which has to be looked for',
      ask: () => ({ as: host, query: { ...views, searchKey: shortWords } }),
    },
    {
      most: 'a key that grows eighteenfold when it is folded',
      ask: () => ({ as: busyUser, query: { ...views, searchKey: foldingWords } }),
    },
  ],
  getConversation: [
    {
      most: 'one of thousands of messages, none of them read',
      ask: () => ({ as: busyUser, params: { conversationId: `group_${club}` } }),
    },
  ],
  getUserConversation: [
    { most: 'one of thousands of messages, none of them read', ask: () => ({ as: busyUser, params: { uid: host } }) },
  ],
  getGroupConversation: [
    { most: 'one of thousands of messages, none of them read', ask: () => ({ as: busyUser, params: { guid: club } }) },
  ],
  updateUserConversation: [
    {
      most: 'as many and as long tags as there may be, on one of thousands of unread messages',
      ask: (_, n) => ({ as: busyUser, params: { uid: host }, body: { tags: tags(n) } }),
    },
  ],
  updateGroupConversation: [
    {
      most: 'as many and as long tags as there may be, on one of thousands of unread messages',
      ask: (_, n) => ({ as: busyUser, params: { guid: club }, body: { tags: tags(n) } }),
    },
  ],
  markUserConversationDelivered: [
    {
      most: 'all of a conversation of which nothing had arrived',
      ask: (_, n) => ({ as: busyUser, params: unreadFrom(n), body: {} }),
    },
  ],
  markGroupConversationDelivered: [
    {
      most: 'thousands of messages, of which nothing had arrived',
      ask: (_, n) => ({ as: abuserAt(n), params: { guid: club }, body: {} }),
    },
  ],
  markUserConversationRead: [
    {
      most: 'all of a conversation of which nothing was read',
      ask: (_, n) => ({ as: busyUser, params: unreadFrom(n), body: {} }),
    },
  ],
  markGroupConversationRead: [
    {
      most: 'thousands of messages, of which nothing was read',
      ask: (_, n) => ({ as: abuserAt(n), params: { guid: club }, body: {} }),
    },
  ],
  markUserConversationUnread: [
    {
      most: 'all of a conversation, as often as there may be',
      ask: (_, n) => ({ as: turn(partners, n), params: { uid: busyUser }, body: { messageId: 0 } }),
    },
  ],
  markGroupConversationUnread: [
    {
      most: 'thousands of messages, as often as there may be',
      ask: (_, n) => ({ as: abuserAt(n), params: { guid: club }, body: { messageId: 0 } }),
    },
  ],
  pinUserConversation: [
    {
      most: 'one of many messages, none of them read',
      ask: (_, n) => ({ as: turn(partners, n), params: { uid: busyUser } }),
    },
  ],
  pinGroupConversation: [
    {
      most: 'one of thousands of messages, none of them read',
      ask: (_, n) => ({ as: abuserAt(n), params: { guid: club } }),
    },
  ],
  unpinUserConversation: [
    {
      most: 'one of many messages, none of them read',
      ask: (_, n) => ({ as: turn(partners, n), params: { uid: busyUser } }),
    },
  ],
  unpinGroupConversation: [
    {
      most: 'one of thousands of messages, none of them read',
      ask: (_, n) => ({ as: abuserAt(n), params: { guid: club } }),
    },
  ],
  resetUserConversation: [
    {
      most: 'another conversation each time, of which nothing was read',
      ask: (_, n) => ({ as: busyUser, params: unreadFrom(conversationsCount - 1 - n), body: { preserveOrder: false } }),
    },
  ],
  resetGroupConversation: [
    {
      most: 'thousands of messages, by one member after the other',
      ask: (_, n) => ({ as: abuserAt(200 + (n % 200)), params: { guid: club }, body: { preserveOrder: false } }),
    },
  ],
}
