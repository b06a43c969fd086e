import { useSyncExternalStore } from 'react'

/** Whether the user wants to be told on their desktop, as they have said in this browser. */

type Notifying = 'unavailable' | 'off' | 'on' | 'refused'

const key = 'parley.notify'
const listeners = new Set<() => void>()

export function notifying(): Notifying {
  if (!('Notification' in window)) return 'unavailable'
  if (Notification.permission === 'denied') return 'refused'
  return Notification.permission === 'granted' && localStorage.getItem(key) === 'on' ? 'on' : 'off'
}

export function useNotifying(): Notifying {
  return useSyncExternalStore(subscribe, notifying)
}

/** Browsers ask the user, and only when they have clicked. */
export async function startNotifying(): Promise<void> {
  await Notification.requestPermission()
  set('on')
}

export const stopNotifying = () => set('off')

function set(wish: 'on' | 'off'): void {
  localStorage.setItem(key, wish)
  for (const run of listeners) run()
}

function subscribe(run: () => void): () => void {
  listeners.add(run)
  // Another tab has changed it.
  window.addEventListener('storage', run)
  return () => {
    listeners.delete(run)
    window.removeEventListener('storage', run)
  }
}
