import { type SelectQueryBuilder, sql } from 'kysely'
import { OneOf, type TSchema, Type } from '../kit/schema.ts'
import type { Tables } from '../storage/tables.ts'

/**
 * Lists that are read on from a record, not by page number: neither skips nor repeats a record while others are written.
 * Records stand in the order of their ids; `append` reads on after the cursor, `prepend` reads back before it.
 */

export const Affix = OneOf(['append', 'prepend'], '`append` reads on after the cursor, `prepend` reads back before it')

/** How many records a page has at most; lists that come in pages call it by another name. */
export function Limit(limits: { usual: number; max: number }) {
  return Type.Optional(
    Type.Integer({
      minimum: 1,
      description: `How many records, ${limits.max} at most; ${limits.usual} if absent. Also \`perPage\`, \`per_page\``,
      'x-also': ['perPage', 'per_page'],
    }),
  )
}

/** The query of a cursor-based list: the area's filters, and where to read on. */
export function cursorQuery<Filters extends Record<string, TSchema>>(
  filters: Filters,
  limits: { usual: number; max: number },
) {
  return Type.Object({
    ...filters,
    affix: Type.Optional(Affix),
    id: Type.Optional(Type.Integer({ minimum: 0, description: 'The cursor: the id to read on from, itself left out' })),
    limit: Limit(limits),
  })
}

/** What `meta` tells about a page: how large it is, and how to read on from it, either way. */
export function CursorMeta<Keys extends Record<string, TSchema>>(keys: Keys) {
  const Cursor = Type.Object({ affix: OneOf(['append', 'prepend']), ...keys })
  return Type.Object({
    current: Type.Object({ limit: Type.Integer(), count: Type.Integer() }),
    next: Cursor,
    previous: Cursor,
  })
}

/** The reply of a list by ids. */
export function cursorPageOf<Item extends TSchema>(item: Item) {
  return Type.Object({ data: Type.Array(item), meta: CursorMeta({ id: Type.Optional(Type.Integer()) }) })
}

/**
 * How to read on from a page, on every page: whoever wants to hear of what comes later asks again from its end. A page
 * without records is read on from where it was asked for; where that was nowhere, from `otherwise`.
 */
export function cursorsOf<Keys extends object>(
  page: Keys[],
  asked: { [Key in keyof Keys]?: Keys[Key] | undefined },
  otherwise: Partial<Keys> = {},
): { next: { affix: 'append' } & Partial<Keys>; previous: { affix: 'prepend' } & Partial<Keys> } {
  const sent = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)) as Partial<Keys>
  const elsewhere = Object.keys(sent).length > 0 ? sent : otherwise
  return {
    next: { affix: 'append', ...(page.at(-1) ?? elsewhere) },
    previous: { affix: 'prepend', ...(page[0] ?? elsewhere) },
  }
}

// What is being written while somebody looks is dated a little before it can be seen.
const writingSeconds = 2

/** Where a list by time that had nothing is read on from: everything that comes from now on is after it. */
export function justBefore(now: number): number {
  return now - writingSeconds
}

export interface CursorQuery {
  affix?: 'append' | 'prepend'
  id?: number
  limit?: number
}

/** Answers one stretch of a list. `all` comes filtered and without order; `column` is its id. */
export async function cursorPage<Row extends object, Item>(
  all: SelectQueryBuilder<Tables, never, Row>,
  column: string,
  { affix = 'append', id, limit: asked }: CursorQuery,
  limits: { usual: number; max: number },
  idOf: (row: Row) => number,
  toItem: (row: Row) => Item,
) {
  const limit = Math.min(asked ?? limits.usual, limits.max)
  const reference = column as never
  // A word that is neither of the two matches nothing.
  const rows = ['append', 'prepend'].includes(affix) ? all : all.where(sql<boolean>`1 = 0`)
  const forward = affix === 'append'
  const stretch = id === undefined ? rows : rows.where(reference, forward ? '>' : '<', id as never)
  const found = await stretch
    .orderBy(reference, forward ? 'asc' : 'desc')
    .limit(limit)
    .execute()
  const data = (forward ? found : found.toReversed()) as Row[]
  const keys = data.map((row) => ({ id: idOf(row) }))
  return {
    data: data.map(toItem),
    meta: { current: { limit, count: data.length }, ...cursorsOf(keys, { id }) },
  }
}
