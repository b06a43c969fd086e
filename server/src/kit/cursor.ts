import { type SelectQueryBuilder, sql } from 'kysely'
import type { Tables } from '../storage/tables.ts'
import { OneOf, type TSchema, Type } from './schema.ts'

/**
 * Lists that are read on from a record, not by page number: neither skips nor repeats a record while others are written.
 * Records stand in the order of their ids; `append` reads on after the cursor, `prepend` reads back before it.
 */

const Affix = OneOf(['append', 'prepend'], '`append` reads on after the cursor, `prepend` reads back before it')

/** The query of a cursor-based list: the area's filters, and where to read on. */
export function cursorQuery<Filters extends Record<string, TSchema>>(
  filters: Filters,
  limits: { usual: number; max: number },
) {
  return Type.Object({
    ...filters,
    affix: Type.Optional(Affix),
    id: Type.Optional(Type.Integer({ minimum: 0, description: 'The cursor: the id to read on from, itself left out' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, description: `How many records, ${limits.max} at most; ${limits.usual} if absent` }),
    ),
  })
}

const Cursor = Type.Object({ affix: Affix, id: Type.Integer() })

/** The reply of a cursor-based list; `next` and `previous` are left out where nothing follows. */
export function cursorPageOf<Item extends TSchema>(item: Item) {
  return Type.Object({
    data: Type.Array(item),
    meta: Type.Object({
      current: Type.Object({ limit: Type.Integer(), count: Type.Integer() }),
      next: Type.Optional(Cursor),
      previous: Type.Optional(Cursor),
    }),
  })
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
  const beyond = (bound: number, side: '<' | '>') => rows.where(reference, side, bound as never)
  const forward = affix === 'append'
  const stretch = id === undefined ? rows : beyond(id, forward ? '>' : '<')
  const found = await stretch
    .orderBy(reference, forward ? 'asc' : 'desc')
    .limit(limit)
    .execute()
  const data = (forward ? found : found.toReversed()) as Row[]
  const isThere = async (row: Row | undefined, side: '<' | '>') =>
    row !== undefined && (await beyond(idOf(row), side).limit(1).executeTakeFirst()) !== undefined
  const [first, last] = [data[0], data.at(-1)]
  return {
    data: data.map(toItem),
    meta: {
      current: { limit, count: data.length },
      ...(last && (await isThere(last, '>')) && { next: { affix: 'append' as const, id: idOf(last) } }),
      ...(first && (await isThere(first, '<')) && { previous: { affix: 'prepend' as const, id: idOf(first) } }),
    },
  }
}
