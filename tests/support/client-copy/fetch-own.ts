import { assertSucceeds, type Caller } from '../house.ts'
import { type Json, type Keyed, keyed, type OwnState, without } from './state.ts'

/** All that a user's client would fetch when it starts without a copy; of groups, who is in all or in some. */
export async function fetchOwn(client: Caller, uid: string, inside?: Set<string>): Promise<OwnState> {
  const data = async (path: string): Promise<Json> => assertSucceeds(await client.get(path)).data
  const [me, joined, listed, messages, blocked, friends] = await Promise.all([
    data('/me'),
    data('/groups?hasJoined=true&withTags=true&perPage=1000'),
    data('/conversations?withTags=true&includeBlockedUsers=true&perPage=50'),
    allMessages(data),
    data(`/users/${uid}/blockedusers`),
    data('/users?friendsOnly=true'),
  ])
  const members: Keyed<Keyed> = {}
  const bans: Keyed<Keyed> = {}
  const opened = joined.filter(({ guid }: Json) => inside?.has(guid) ?? true)
  const fetchInside = async ({ guid, scope }: Json) => {
    members[guid] = keyed(await data(`/groups/${guid}/members?perPage=1000`), 'uid', memberOf)
    if (scope !== 'participant') bans[guid] = keyed(await data(`/groups/${guid}/bannedusers`), 'uid', banOf)
  }
  await Promise.all(opened.map(fetchInside))
  return {
    uid,
    me,
    groups: keyed(joined, 'guid'),
    members,
    bans,
    messages: keyed(messages, 'id', messageOf),
    conversations: keyed(listed, 'conversationId', conversationOf),
    blocks: keyed(blocked, 'uid', blockOf),
    friends: keyed(friends, 'uid', () => true),
    toFetch: new Set(),
  }
}

const pageMax = 100

async function allMessages(data: (path: string) => Promise<Json[]>): Promise<Json[]> {
  const all: Json[] = []
  for (;;) {
    const page = await data(`/messages?withTags=true&affix=append&limit=${pageMax}&id=${all.at(-1)?.id ?? 0}`)
    all.push(...page)
    if (page.length < pageMax) return all
  }
}

export const memberOf = ({ scope, joinedAt }: Json): Json => ({ scope, joinedAt })
export const banOf = ({ scope, joinedAt, bannedAt }: Json): Json => ({ scope, joinedAt, bannedAt })

// What is quoted is a message that the copy has, or had.
export const messageOf = (message: Json): Json => without(message, 'quotedMessage')

// Of the other user only who it is: no event tells of a changed profile of somebody else.
export function conversationOf({ conversationWith, lastMessage, ...conversation }: Json): Json {
  const { uid, guid } = conversationWith
  return { ...conversation, with: uid ?? guid, ...(lastMessage && lastOf(lastMessage)) }
}

function lastOf({ id, receipts }: Json): Json {
  const given = receipts.data.map(({ sender, ...receipt }: Json) => ({ uid: sender.uid, ...receipt }))
  return { lastMessage: id, receipts: keyed(given, 'uid', receiptOf) }
}

function receiptOf({ deliveredAt, readAt }: Json): Json {
  return { deliveredAt, ...(readAt !== undefined && { readAt }) }
}

function blockOf({ blockedByMe, blockedByMeAt, hasBlockedMe, hasBlockedMeAt }: Json): Json {
  return { ...(blockedByMe && { blockedByMeAt }), ...(hasBlockedMe && { hasBlockedMeAt }) }
}

/** Takes from a fresh state what was to be fetched of it. */
export function takeFetched(copy: OwnState, fresh: OwnState): void {
  for (const guid of copy.toFetch) {
    const conversationId = `group_${guid}`
    for (const part of ['groups', 'members', 'bans'] as const) takeOne(copy[part], fresh[part], guid)
    takeOne(copy.conversations, fresh.conversations, conversationId)
    const messages = Object.values({ ...copy.messages, ...fresh.messages })
    const inside = messages.filter((message) => message.conversationId === conversationId)
    for (const { id } of inside) takeOne(copy.messages, fresh.messages, id)
  }
  copy.toFetch.clear()
}

function takeOne(into: Keyed, from: Keyed, key: string): void {
  if (key in from) into[key] = structuredClone(from[key])
  else delete into[key]
}
