import type { Actor } from '../../kit/operation.ts'
import type { View } from '../../kit/work.ts'
import type { SeenMessage } from '../timeline/index.ts'
import { toMessages } from '../timeline/index.ts'
import type { Message } from '../timeline/schemas.ts'
import { blocksBetween, sightOf, usersByUid } from '../users/index.ts'
import type { MessageListQuery } from './schemas.ts'

/** Messages as a list shows them. */
export async function shown(
  view: View,
  rows: SeenMessage[],
  viewer: Actor | undefined,
  query: Partial<MessageListQuery>,
): Promise<Message[]> {
  const { db } = view
  const messages = await toMessages(view, rows, {
    viewer,
    withTags: query.withTags ?? false,
    withQuoted: !query.hideQuotedMessages,
    withParent: query.withParent ?? false,
  })
  const withTags = query.mentionsWithTagInfo || query.mentionswithTagInfo
  const withBlocks = query.mentionsWithBlockedInfo && viewer
  if (!withTags && !withBlocks) return messages
  const mentioned = [...new Set(messages.flatMap(({ data }) => Object.keys(mentionsIn(data))))]
  const users = withTags ? await usersByUid(db, mentioned) : new Map()
  const sees = await sightOf(db, viewer, () => mentioned)
  const blocks = withBlocks && mentioned.length > 0 ? await blocksBetween.ask(db, viewer.uid, mentioned) : new Map()
  const told = (uid: string, user: object) => {
    const tags = sees(uid) ? users.get(uid)?.tags : undefined
    const { blockedByMe = false, hasBlockedMe = false } = blocks.get(uid) ?? {}
    return { ...user, ...(tags && { tags: JSON.parse(tags) }), ...(withBlocks && { blockedByMe, hasBlockedMe }) }
  }
  return messages.map((message) => {
    const mentions = Object.entries(mentionsIn(message.data))
    if (mentions.length === 0) return message
    return {
      ...message,
      data: { ...message.data, mentions: Object.fromEntries(mentions.map(([uid, user]) => [uid, told(uid, user)])) },
    }
  })
}

function mentionsIn({ mentions }: Message['data']): Record<string, object> {
  return (mentions ?? {}) as Record<string, object>
}
