import { type Loaded, useLoaded } from './use-loaded.ts'

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

export const useInstall = (): Loaded<Install> => useLoaded(fetchInstall)

async function fetchInstall(signal: AbortSignal): Promise<Install> {
  const answer = await fetch('./install.json', { signal })
  if (!answer.ok) throw new Error(`The install answered ${answer.status}.`)
  return answer.json()
}
