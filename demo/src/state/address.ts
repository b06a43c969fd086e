import type { To } from '@parley/sdk'
import { useSyncExternalStore } from 'react'

/**
 * What is on show is in the address, so that going back, reloading and sending a link work:
 * `#/user/lin`, `#/group/boats/thread/12`, `#/user/lin?message=7`, `#/group/boats/members`, `#/search/everywhere?words=oars`.
 */

export type Panel =
  | { kind: 'thread'; id: string }
  | { kind: 'members' }
  | { kind: 'search'; words?: string; everywhere?: boolean }
  /** Somebody of a group, or whom the conversation is with. */
  | { kind: 'person'; uid?: string }

export interface Address {
  to?: To
  panel?: Panel
  /** A message to show, wherever it stands. */
  message?: string
}

export function useAddress(): Address {
  const hash = useSyncExternalStore(subscribe, () => location.hash)
  return addressIn(hash)
}

export function goTo(address: Address): void {
  location.hash = hashOf(address)
}

/** Goes there without a step to go back. */
export function stayAt(address: Address): void {
  location.replace(hashOf(address))
}

export function addressIn(hash: string): Address {
  const [path = '', query = ''] = hash.replace(/^#\//, '').split('?')
  const parts = path.split('/').map(decoded)
  const to = toOf(parts[0], parts[1])
  const [kind, about] = to ? parts.slice(2) : parts
  const words = new URLSearchParams(query)
  const panel = panelOf(kind, about, words.get('words'))
  const message = words.get('message')
  return { ...(to && { to }), ...(panel && { panel }), ...(message && { message }) }
}

export function hashOf({ to, panel, message }: Address): string {
  const place = to === undefined ? [] : 'user' in to ? ['user', to.user] : ['group', to.group]
  const path = [...place, ...pathOf(panel)].map(encodeURIComponent).join('/')
  const query = new URLSearchParams()
  if (panel?.kind === 'search' && panel.words) query.set('words', panel.words)
  if (message !== undefined) query.set('message', message)
  return `#/${path}${query.size === 0 ? '' : `?${query}`}`
}

function toOf(kind: string | undefined, id: string | undefined): To | undefined {
  if (!id) return undefined
  if (kind === 'user') return { user: id }
  return kind === 'group' ? { group: id } : undefined
}

function panelOf(kind: string | undefined, about: string | undefined, words: string | null): Panel | undefined {
  switch (kind) {
    case 'thread':
      return about ? { kind, id: about } : undefined
    case 'members':
      return { kind }
    case 'person':
      return { kind, ...(about && { uid: about }) }
    case 'search':
      return { kind, ...(words && { words }), ...(about === 'everywhere' && { everywhere: true }) }
    default:
      return undefined
  }
}

function pathOf(panel: Panel | undefined): string[] {
  if (!panel) return []
  switch (panel.kind) {
    case 'thread':
      return ['thread', panel.id]
    case 'person':
      return panel.uid === undefined ? ['person'] : ['person', panel.uid]
    case 'search':
      return panel.everywhere ? ['search', 'everywhere'] : ['search']
    default:
      return [panel.kind]
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return ''
  }
}

function subscribe(run: () => void): () => void {
  window.addEventListener('hashchange', run)
  return () => window.removeEventListener('hashchange', run)
}
