import type { Conversation } from '@parley/sdk'
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react'
import { draftKey } from '../state/drafts.ts'
import { useGroup } from '../state/use-group.ts'

/** What every message needs to know of the conversation, or the thread, that it stands in. */
interface Talk {
  conversation: Conversation
  /** The message whose thread this is. */
  thread?: string
  /** The draft that quotes and edits go into. */
  draft: string
  /** Whether the user may change what others have said, and pin. */
  isModerator: boolean
  /** Does something, and says so if it could not be done. */
  act(doing: Promise<unknown>): void
  /** Shows a message of this conversation, wherever it stands. */
  show(id: string): void
}

const TalkContext = createContext<Talk | undefined>(undefined)
const NoticeContext = createContext<{ notice?: string; dismiss(): void }>({ dismiss() {} })

export function useTalk(): Talk {
  const talk = useContext(TalkContext)
  if (!talk) throw new Error('There is no conversation here.')
  return talk
}

/** Why what was done last did not work. */
export const useNotice = () => useContext(NoticeContext)

interface TalkProviderProps {
  conversation: Conversation
  thread?: string
  show(id: string): void
  children: ReactNode
}

export function TalkProvider({ conversation, thread, show, children }: TalkProviderProps) {
  const isModerator = useIsModerator(conversation)
  const [notice, setNotice] = useState<string>()
  const act = useCallback((doing: Promise<unknown>) => {
    setNotice(undefined)
    doing.catch((error: Error) => setNotice(error.message))
  }, [])
  const talk = useMemo<Talk>(
    () => ({
      conversation,
      ...(thread !== undefined && { thread }),
      draft: draftKey(conversation.to, thread),
      isModerator,
      show,
      act,
    }),
    [conversation, thread, isModerator, show, act],
  )
  const shown = useMemo(() => ({ ...(notice && { notice }), dismiss: () => setNotice(undefined) }), [notice])
  return (
    <TalkContext value={talk}>
      <NoticeContext value={shown}>{children}</NoticeContext>
    </TalkContext>
  )
}

/** Two people are equals; in a group it depends on what one is there. */
function useIsModerator({ to }: Conversation): boolean {
  const group = useGroup(to)
  return 'user' in to || group?.scope === 'admin' || group?.scope === 'moderator'
}
