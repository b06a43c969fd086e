import { useEffect, useState } from 'react'

/** What the page must know before anybody is logged in; the demo install tells it. */
export interface Install {
  /** The host of the chat API. */
  url: string
  appId: string
  /** Makes tokens for whom you choose to be. Only a demo gives such a key to a page. */
  authKey: string
  people: readonly DemoPerson[]
}

export interface DemoPerson {
  uid: string
  name: string
  title: string
}

export type Loaded<T> = { status: 'loading' } | { status: 'failed'; retry: () => void } | { status: 'ready'; value: T }

export function useInstall(): Loaded<Install> {
  const [attempt, setAttempt] = useState(0)
  const [loaded, setLoaded] = useState<Loaded<Install>>({ status: 'loading' })

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt fetches again.
  useEffect(() => {
    const controller = new AbortController()
    const retry = () => {
      setLoaded({ status: 'loading' })
      setAttempt((count) => count + 1)
    }
    fetchInstall(controller.signal).then(
      (value) => setLoaded({ status: 'ready', value }),
      () => !controller.signal.aborted && setLoaded({ status: 'failed', retry }),
    )
    return () => controller.abort()
  }, [attempt])

  return loaded
}

async function fetchInstall(signal: AbortSignal): Promise<Install> {
  const answer = await fetch('./install.json', { signal })
  if (!answer.ok) throw new Error(`The install answered ${answer.status}.`)
  return answer.json()
}
