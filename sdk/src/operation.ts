/** What there is to call, as the generated descriptors tell it and everything above reads it. */

/**
 * Who can call an operation: an app with its API key, the same on behalf of an `actor`, a client with an auth token, or
 * whoever runs apps with a management key.
 */
export type Caller = 'app' | 'actor' | 'client' | 'management'

/**
 * One operation of the API. What it takes, what it answers and who may call it are types alone, and weigh nothing. An
 * operation that more may call goes where fewer are asked for, so `Operation<…, never>` is whichever there is.
 */
export interface Operation<Input, Answer, By extends Caller> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /** Its input may have `files`, and is then sent as a form. */
  readonly takesFiles?: true
  readonly types?: { takes: (input: Input) => void; answers: () => Answer; opensTo: (caller: By) => void }
}

/** An operation that answers page by page. */
export interface ListOperation<Input, Answer, By extends Caller> extends Operation<Input, Answer, By> {
  /** Whether pages have numbers, at least for some callers. */
  readonly pages: 'numbered' | 'cursors'
}

/** The input of an operation that takes none. */
export type Nothing = Record<string, never>

/** A page of a list that is read by page numbers. */
export interface NumberedPage<Item> {
  data: Item[]
  meta: {
    pagination: { total: number; count: number; per_page: number; current_page: number; total_pages: number }
    /** The newest change in the list. */
    cursor?: { affix: string; updatedAt?: number; id?: number }
  }
}

/** A page of a list that is read on from a record. */
export interface CursorPage<Item> {
  data: Item[]
  meta: { current: { limit: number; count: number }; next: Cursor; previous: Cursor }
}

/** Where a list is read on: `append` after the place that the other values name, `prepend` back from it. */
export interface Cursor {
  affix?: 'append' | 'prepend'
  id?: string | number
  sentAt?: number
  updatedAt?: number
  pinnedAt?: number
}
