import { uidAt } from '../../../bench/load-users.ts'
import { commonTag } from '../../../bench/load-worst.ts'
import { type Abuse, type Abuses, type Ask, type Stage, turn } from './abuse.ts'
import { foldingWords, longText, longWord, shortTags, shortWords, words } from './largest.ts'
import { abuserAt, busyUser, club, crowd, host } from './people.ts'

const limit = 1_000
const receiversMax = 100
const mentionsMax = 10
// A user may tell so many in a minute, and so much in one request.
const bytesToMany = Math.floor(16_384 / 30) - 20

/** Whoever is named stands in the message with all their metadata. */
export const mentioned = Array.from({ length: mentionsMax }, (_, n) => abuserAt(n))

const everyFilter = {
  ...{ fromTimestamp: 1, 'sentAt[from]': 1, 'updatedAt[from]': 1, updatedAt: 1, onlyUpdates: true },
  ...{ categories: words('message'), types: words('text'), hasAttachments: false, hasLinks: false },
  ...{ mentionedUids: words(busyUser), senders: words(busyUser, host), tags: words(commonTag) },
  ...{ hideDeleted: true, hideMessagesFromBlockedUsers: true, undelivered: true },
  ...{ withTags: true, withParent: true, mentionsWithBlockedInfo: true, mentionsWithTagInfo: true, limit },
}

type Queries = Record<string, NonNullable<Ask['query']>>

/** The worst that any list of messages can be asked, by what makes it so. */
const anywhere: Queries = {
  'many short words, each of which has to be looked for': { searchKey: shortWords, limit },
  'a key that grows eighteenfold when it is folded': { searchKey: foldingWords, limit },
  'every filter there is, and all that can be shown': everyFilter,
}

/** What is worst where a list goes over all conversations. */
const overAll: Queries = {
  'the longest word there can be': { searchKey: longWord, limit },
  'a letter that nearly every message has, from the newest back': { searchKey: 'a', affix: 'prepend', limit },
  'unread messages with a word that nobody said, all of them counted': { unread: true, count: true, searchKey: 'fox' },
  'unread messages with a common word': { unread: true, count: true, searchKey: 'walnut' },
  'a kind that nobody sent, so that all messages are looked at': { category: 'custom', hasReactions: true, limit },
  'whatever was read or changed, which is looked up for each': { updatedAt: 4_000_000_000, affix: 'prepend', limit },
}

function asking(queries: Queries, whose: (stage: Stage) => Omit<Ask, 'query'>): Abuse[] {
  return Object.entries(queries).map(([most, query]) => ({ most, ask: (stage) => ({ ...whose(stage), query }) }))
}

/** The worst that a list of messages of somebody can be asked. */
export function lists(whose: (stage: Stage) => Omit<Ask, 'query'>): Abuse[] {
  return asking(anywhere, whose)
}

const remember: Abuse['keep'] = ({ made }, { body }, { as }) => {
  if (typeof body?.data?.id === 'string') made.messages.push({ id: body.data.id, sender: as })
}

export const messages: Abuses = {
  sendMessage: [
    {
      most: 'as many receivers as there may be, with as long a text as so many may get',
      ask: (_, n) => ({
        as: abuserAt(n),
        body: {
          multipleReceivers: { uids: Array.from({ length: receiversMax }, (_, k) => uidAt(n * receiversMax + k)) },
          data: { text: longText(n, mentioned, bytesToMany) },
          tags: shortTags(n),
        },
      }),
    },
    {
      most: 'the largest group, the longest text, and as many mentions and tags as there may be',
      ask: (_, n) => ({
        as: abuserAt(n),
        body: {
          receiver: crowd,
          receiverType: 'group',
          data: { text: longText(n, mentioned) },
          tags: shortTags(n),
        },
      }),
      keep: remember,
    },
    {
      most: 'free data of as many values as fit',
      ask: (_, n) => ({
        as: abuserAt(n),
        body: {
          receiver: uidAt(n),
          receiverType: 'user',
          category: 'custom',
          type: 'numbers',
          data: { customData: { numbers: Array.from({ length: 4_500 }, (_, k) => (k + n) % 10) } },
        },
      }),
    },
  ],
  sendMessageToUser: [
    {
      most: 'the longest text, with as many mentions and tags as there may be',
      ask: (_, n) => ({
        as: abuserAt(n),
        params: { uid: uidAt(n) },
        body: { data: { text: longText(n, mentioned) }, tags: shortTags(n) },
      }),
    },
    {
      most: 'a file whose address is as long as fits',
      ask: (_, n) => ({
        as: abuserAt(n),
        params: { uid: uidAt(n) },
        body: { type: 'image', data: { url: `https://example.org/${n}/${'x'.repeat(10_000)}.png` } },
      }),
    },
  ],
  sendMessageToGroup: [
    {
      most: 'the largest group, the longest text, and as many mentions and tags as there may be',
      ask: (_, n) => ({
        as: abuserAt(n),
        params: { guid: crowd },
        body: { data: { text: longText(n, mentioned) }, tags: shortTags(n) },
      }),
    },
  ],
  listMessages: [
    ...asking({ ...anywhere, ...overAll }, () => ({ as: busyUser })),
    {
      most: 'the newest of very many conversations',
      ask: () => ({ as: host, query: { affix: 'prepend', limit, withTags: true, withParent: true } }),
    },
  ],
  listGroupMessages: lists(() => ({ as: busyUser, params: { guid: club } })),
  listUserMessages: lists(() => ({ as: busyUser, params: { uid: host } })),
  getMessage: [
    {
      most: 'a message to which everybody has reacted and thousands have replied',
      ask: ({ famous }) => ({ as: busyUser, params: { id: famous } }),
    },
  ],
  updateMessage: [
    {
      most: 'the longest text, told to the largest group, and found by other words afterwards',
      ask({ made }, n) {
        const { id, sender } = turn(made.messages, n)
        return { as: sender, params: { id }, body: { data: { text: longText(n + 1, mentioned) }, tags: shortTags(n) } }
      },
    },
  ],
  listReceipts: [
    {
      most: 'a message that everybody in the largest group has read',
      ask: ({ announcement }) => ({ as: busyUser, params: { id: announcement }, query: { limit } }),
    },
  ],
  deleteMessage: [
    {
      most: 'a long text with mentions and tags, told to the largest group',
      ask({ made }, n) {
        const { id, sender } = turn(made.messages, n)
        return { as: sender, params: { id }, body: {} }
      },
    },
  ],
}
