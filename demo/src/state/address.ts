import type { To } from '@parley/sdk'
import { useSyncExternalStore } from 'react'

/**
 * What is on show is in the address, so that going back, reloading and sending a link work:
 * `#/user/lin`, `#/group/boats/thread/12`, `#/user/lin?message=7`, `#/group/boats/members`.
 */

export type Panel = { kind: 'thread'; id: string } | { kind: 'members' } | { kind: 'search' } | { kind: 'person' }

export interface Address {
  to?: To
  panel?: Panel
  /** A message to show, wherever it stands. */
  message?: string
}

const panels = ['members', 'search', 'person'] as const

export function useAddress(): Address {
  const hash = useSyncExternalStore(subscribe, () => location.hash)
  return addressIn(hash)
}

export function goTo(address: Address): void {
  location.hash = hashOf(address)
}

export function addressIn(hash: string): Address {
  const [path = '', query = ''] = hash.replace(/^#\//, '').split('?')
  const [kind, id, panel, about] = path.split('/').map(decoded)
  const to = toOf(kind, id)
  const message = new URLSearchParams(query).get('message')
  const open = panelOf(panel, about)
  return { ...(to && { to }), ...(open && { panel: open }), ...(message && { message }) }
}

export function hashOf({ to, panel, message }: Address): string {
  const place = to === undefined ? [] : 'user' in to ? ['user', to.user] : ['group', to.group]
  const beside = panel === undefined ? [] : panel.kind === 'thread' ? ['thread', panel.id] : [panel.kind]
  const path = [...place, ...beside].map(encodeURIComponent).join('/')
  return `#/${path}${message === undefined ? '' : `?message=${encodeURIComponent(message)}`}`
}

function toOf(kind: string | undefined, id: string | undefined): To | undefined {
  if (!id) return undefined
  if (kind === 'user') return { user: id }
  return kind === 'group' ? { group: id } : undefined
}

function panelOf(kind: string | undefined, id: string | undefined): Panel | undefined {
  if (kind === 'thread' && id) return { kind, id }
  const known = panels.find((each) => each === kind)
  return known && { kind: known }
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
