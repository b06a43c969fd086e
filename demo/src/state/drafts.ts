import type { To, Upload } from '@parley/sdk'
import type { Message } from '@parley/sdk/api'
import { useCallback, useSyncExternalStore } from 'react'
import { asWritten, nothingWritten, type Written } from './mentions.ts'
import { rememberedPerson } from './person.ts'

/**
 * What somebody has begun to write, for each conversation and each thread. Texts outlive a reload of the window; quotes,
 * edits and files do not.
 */

export interface DraftFile {
  readonly id: string
  readonly file: File
  /** Begins when the file is chosen, so it belongs to this draft wherever the person goes meanwhile. */
  readonly upload: Upload
  /** A picture of it, as an address of this window. */
  readonly preview?: string
}

export interface Draft {
  readonly written: Written
  readonly quote?: Message
  /** While a message is edited, what was written before waits beside it. */
  readonly edit?: { readonly message: Message; readonly written: Written }
  readonly files: readonly DraftFile[]
  /** Files of messages that were sent before these had arrived. */
  readonly leaving: readonly DraftFile[]
}

const nothing: Draft = Object.freeze({ written: nothingWritten, files: [], leaving: [] })
const drafts = new Map<string, Draft>()
const listeners = new Map<string, Set<() => void>>()

/** Another person in the same window has other drafts. */
export function draftKey(to: To, thread?: string): string {
  const place = 'user' in to ? ['user', to.user] : ['group', to.group]
  return JSON.stringify([rememberedPerson(), ...place, thread ?? null])
}

export function useDraft(key: string): Draft {
  return useSyncExternalStore(
    useCallback((run) => subscribe(key, run), [key]),
    () => draftOf(key),
  )
}

export function draftOf(key: string): Draft {
  const known = drafts.get(key)
  if (known) return known
  const written = restored(key)
  const draft = written ? { ...nothing, written } : nothing
  drafts.set(key, draft)
  return draft
}

/** What is in the box: the edit, while there is one. */
export const writtenIn = ({ edit, written }: Draft): Written => edit?.written ?? written

export function write(key: string, written: Written): void {
  changeDraft(key, (draft) => (draft.edit ? { ...draft, edit: { ...draft.edit, written } } : { ...draft, written }))
}

export function quoteInDraft(key: string, quote: Message): void {
  changeDraft(key, ({ edit: _, ...draft }) => ({ ...draft, quote }))
}

export function editInDraft(key: string, message: Message): void {
  changeDraft(key, ({ quote: _, ...draft }) => ({ ...draft, edit: { message, written: asWritten(message) } }))
}

/** Neither quotes nor edits; what was written before an edit is back. */
export function leaveBar(key: string): void {
  changeDraft(key, ({ quote: _, edit: __, ...draft }) => draft)
}

/** The draft was sent. Its files go on by themselves. */
export function emptyDraft(key: string): void {
  changeDraft(key, ({ files, leaving }) => ({ ...nothing, leaving: [...leaving, ...files] }))
}

/** A voice note was sent, with what it answers; what was written stays. */
export function passVoiceNote(key: string, note: DraftFile): void {
  changeDraft(key, ({ quote: _, ...draft }) => ({ ...draft, leaving: [...draft.leaving, note] }))
}

export function changeDraft(key: string, change: (draft: Draft) => Draft): void {
  const before = draftOf(key)
  const draft = change(before)
  drafts.set(key, draft)
  if (draft.written !== before.written) keep(key, draft.written)
  for (const run of listeners.get(key) ?? []) run()
}

function subscribe(key: string, run: () => void): () => void {
  const all = listeners.get(key) ?? new Set()
  listeners.set(key, all.add(run))
  return () => {
    all.delete(run)
    if (all.size === 0) listeners.delete(key)
  }
}

const stored = (key: string) => `parley.draft.${key}`

function keep(key: string, written: Written): void {
  try {
    if (written.text === '') sessionStorage.removeItem(stored(key))
    else sessionStorage.setItem(stored(key), JSON.stringify(written))
  } catch {
    // There is no room, or none is allowed: then it is kept as long as the page is.
  }
}

function restored(key: string): Written | undefined {
  try {
    const { text, mentions } = Object(JSON.parse(sessionStorage.getItem(stored(key)) ?? 'null'))
    return typeof text === 'string' && Array.isArray(mentions) ? { text, mentions } : undefined
  } catch {
    return undefined
  }
}
