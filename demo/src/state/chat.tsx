import { type Client, createClient, type LiveUser } from '@parley/sdk'
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { Failed, Loading } from '../parts/states.tsx'
import type { Install } from './install.ts'

/** The client of whoever has been chosen, for all that stands below. */

interface Chat {
  client: Client
  me: LiveUser
  leave(): void
}

const ChatContext = createContext<Chat | undefined>(undefined)

export function useChat(): Chat {
  const chat = useContext(ChatContext)
  if (!chat) throw new Error('Nobody is logged in here.')
  return chat
}

interface ChatProviderProps {
  install: Install
  uid: string
  leave(): void
  children: ReactNode
}

export function ChatProvider({ install, uid, leave, children }: ChatProviderProps) {
  // Making a client does nothing yet, so it may be made twice, as React does to find mistakes.
  const [client] = useState(() => clientFor(install, uid))
  const { me, error, retry } = useLogin(client)

  if (error) return <Failed what={`${uid} could not be logged in. ${error.message}`} retry={retry} leave={leave} />
  if (!me) return <Loading what="your conversations" />
  return <ChatContext value={{ client, me, leave }}>{children}</ChatContext>
}

function clientFor({ url, appId, authKey }: Install, uid: string): Client {
  return createClient({
    ...{ url, appId },
    token: { uid, authOnlyKey: authKey },
    presence: 'all',
    autoReceipts: 'delivered',
    // What was not sent before the page was closed is sent when it is opened again.
    storage: localStorage,
  })
}

/** Logged in while it is shown. Logging in again while it is under way is the same login. */
function useLogin(client: Client) {
  const [me, setMe] = useState<LiveUser>()
  const [error, setError] = useState<Error>()
  const [attempt, setAttempt] = useState(0)

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt logs in again.
  useEffect(() => {
    let isShown = true
    client.login().then(
      (user) => isShown && setMe(user),
      (reason) => isShown && setError(reason),
    )
    return () => {
      isShown = false
      client.logout()
    }
  }, [client, attempt])

  function retry(): void {
    setError(undefined)
    setAttempt((count) => count + 1)
  }
  return { me, error, retry }
}
