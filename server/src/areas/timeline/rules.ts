import type { AppSettings } from '../apps/schemas.ts'

/** What the rule below looks at. */
export interface Said {
  category: string
  type: string
  data: Record<string, unknown>
  /** It belongs to a thread: as a reply, or as something done to one. */
  inThread?: boolean
}

export interface Notice {
  /** It counts as unread for whoever has not read it. */
  counts: boolean
  /** Lists of conversations show it as the last message. */
  shown: boolean
}

const both = (noticed: boolean): Notice => ({ counts: noticed, shown: noticed })

/**
 * How much notice a conversation takes of what is said in it, as the app is set. It is decided once, when a message is
 * written, and stored with it: a setting that changes goes for what is written from then on.
 */
export function noticeOf(settings: AppSettings, { category, type, data, inThread = false }: Said): Notice {
  if (category === 'call') return both(settings['core.conversations.updateOnCallActivity'])
  if (category === 'action') {
    if (type === 'groupMember') return both(settings['core.conversations.updateOnGroupActions'])
    return both(
      settings[inThread ? 'core.threads.updateOnMessageActions' : 'core.conversations.updateOnMessageActions'],
    )
  }
  const noticed = category !== 'custom' || isCustomNoticed(settings, data)
  if (!inThread) return both(noticed)
  // Replies are unread in their threads, never in the conversation.
  return { counts: false, shown: noticed && settings['core.conversations.updateOnReplies'] }
}

/** A sender can keep a custom message quiet, whatever the app is set to. */
function isCustomNoticed(settings: AppSettings, { updateConversation }: Record<string, unknown>): boolean {
  return updateConversation !== false && settings['core.conversations.updateOnCustomMessage']
}
