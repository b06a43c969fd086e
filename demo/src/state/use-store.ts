import type { Readable } from '@parley/sdk'
import { useSyncExternalStore } from 'react'

/** What the SDK keeps, as React shows it. Everything of the server comes by this one door. */
export function useStore<T>(store: Readable<T>): T {
  return useSyncExternalStore(store.subscribe, store.get, store.get)
}
