import { type Abuses, turn } from './abuse.ts'
import { longText, shortTags } from './largest.ts'
import { lists, mentioned } from './messages.ts'
import { abuserAt, busyUser, club } from './people.ts'

/** What is added to messages: reactions, replies, pins, saves and interactions. */

const limit = 1_000
const reactionCharactersMax = 45
// A message has so many kinds at most, and one of them is there already.
const kindsMax = 24

/** Another user or another kind each time. */
const reactionAt = (n: number) => `kind-${Math.floor(n / 100) % kindsMax}`.padEnd(reactionCharactersMax, '-')
const elements = Array.from({ length: 150 }, (_, n) => `element-${n}`)

export const formData = {
  interactiveData: { title: 'Form', formFields: elements.map((elementId) => ({ elementType: 'label', elementId })) },
  interactionGoal: { type: 'allOf', elementIds: elements },
}

export const remarks: Abuses = {
  listReactions: [
    {
      most: 'a message to which everybody has reacted',
      ask: ({ famous }) => ({ as: busyUser, params: { id: famous }, query: { limit, affix: 'prepend' } }),
    },
  ],
  listReactionsOfKind: [
    {
      most: 'a message to which everybody has reacted in the same way',
      ask: ({ famous }) => ({ as: busyUser, params: { id: famous, reaction: '👍' }, query: { limit } }),
    },
  ],
  addReaction: [
    {
      most: 'to a message to which everybody has reacted, in many ways',
      ask: ({ famous }, n) => ({ as: abuserAt(n), params: { id: famous, reaction: reactionAt(n) } }),
    },
  ],
  addReactionInBody: [
    {
      most: 'to a message to which everybody has reacted, in many ways',
      ask: ({ famous }, n) => ({
        as: abuserAt(n + 100),
        params: { id: famous },
        body: { reaction: reactionAt(n) },
      }),
    },
  ],
  removeReaction: [
    {
      most: 'from a message to which everybody has reacted, in many ways',
      ask: ({ famous }, n) => ({ as: abuserAt(n), params: { id: famous, reaction: reactionAt(n) } }),
    },
  ],
  sendReply: [
    {
      most: 'to a message with thousands of replies, the longest text with as many mentions and tags as there may be',
      ask: ({ famous }, n) => ({
        as: abuserAt(n),
        params: { id: famous },
        body: { data: { text: longText(n, mentioned) }, tags: shortTags(n) },
      }),
    },
  ],
  listReplies: [
    {
      most: 'the newest of thousands',
      ask: ({ famous }) => ({
        as: busyUser,
        params: { id: famous },
        query: { limit, affix: 'prepend', withParent: true },
      }),
    },
    ...lists(({ famous }) => ({ as: busyUser, params: { id: famous } })),
  ],
  listThreads: [
    {
      most: 'thousands of threads, with what is unread and who is named in each',
      ask: () => ({ as: busyUser, query: { limit, withUnreadReplyCount: true, withMentionCount: true } }),
    },
    {
      most: 'the threads of one group, among them one with thousands of replies',
      ask: () => ({
        as: busyUser,
        query: { limit, withUnreadReplyCount: true, withMentionCount: true, guid: club, participatedByMe: true },
      }),
    },
  ],
  followThread: [
    { most: 'a thread of thousands', ask: ({ famous }, n) => ({ as: abuserAt(n), params: { id: famous } }) },
  ],
  unfollowThread: [
    { most: 'a thread of thousands', ask: ({ famous }, n) => ({ as: abuserAt(n), params: { id: famous } }) },
  ],
  pinMessage: [
    {
      most: 'as many in a group as there may be',
      ask: ({ messages }, n) => ({ as: busyUser, params: { id: turn(messages, n) } }),
    },
  ],
  unpinMessage: [
    {
      most: 'as many in a group as there may be',
      ask: ({ messages }, n) => ({ as: busyUser, params: { id: turn(messages, n) } }),
    },
  ],
  saveMessage: [
    {
      most: 'as many as there may be for a user',
      ask: ({ messages }, n) => ({
        as: abuserAt(Math.floor(n / messages.length) % 100),
        params: { id: turn(messages, n) },
      }),
    },
  ],
  unsaveMessage: [
    {
      most: 'as many as there may be for a user',
      ask: ({ messages }, n) => ({
        as: abuserAt(Math.floor(n / messages.length) % 100),
        params: { id: turn(messages, n) },
      }),
    },
  ],
  recordInteractionsOrRead: [
    {
      most: 'every element of a message that has as many as fit, which is its goal',
      ask: ({ form }, n) => ({ as: abuserAt(n + 100), params: { id: form }, body: { interactions: elements } }),
    },
    {
      most: 'all that was said in the largest group that tells who has read',
      ask: ({ famous }, n) => ({ as: abuserAt(n), params: { id: famous }, body: {} }),
    },
  ],
  recordInteractions: [
    {
      most: 'every element of a message that has as many as fit, which is its goal',
      ask: ({ form }, n) => ({ as: abuserAt(n), params: { id: form }, body: { interactions: elements } }),
    },
  ],
}
