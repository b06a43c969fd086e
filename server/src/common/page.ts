import { type SelectQueryBuilder, sql } from 'kysely'
import { OneOf, type TSchema, Type } from '../kit/schema.ts'
import type { Tables } from '../storage/tables.ts'

const perPageDefault = 100
const perPageMax = 1000

/** The query of a page-based list: the area's filters, and which page. */
export function listQuery<Filters extends Record<string, TSchema>>(filters: Filters) {
  return Type.Object({
    ...filters,
    page: Type.Optional(Type.Integer({ minimum: 1, description: 'Which page; the first is 1' })),
    perPage: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: `Records per page; more than ${perPageMax} are answered as ${perPageMax}. Also \`per_page\``,
        'x-also': ['per_page'],
      }),
    ),
  })
}

export const Pagination = Type.Object(
  {
    total: Type.Integer({ description: 'Records in all', examples: [1] }),
    count: Type.Integer({ description: 'Records on this page', examples: [1] }),
    per_page: Type.Integer({ description: 'Records a page can hold', examples: [perPageDefault] }),
    current_page: Type.Integer({ description: 'Which page this is', examples: [1] }),
    total_pages: Type.Integer({ description: 'Pages in all', examples: [1] }),
  },
  { title: 'Pagination' },
)

/** The reply of a page-based list. */
export function pageOf<Record extends TSchema>(record: Record) {
  return Type.Object({ data: Type.Array(record), meta: Type.Object({ pagination: Pagination }) })
}

const ChangeCursor = Type.Object(
  {
    updatedAt: Type.Integer({
      description: 'The newest change in the list, in UNIX seconds',
      examples: [1_767_258_000],
    }),
    affix: OneOf(['prepend', 'append']),
  },
  { title: 'ChangeCursor' },
)

/** The reply of a list of users, which also tells when something in it last changed. */
export function userPageOf<Record extends TSchema>(record: Record) {
  return Type.Object({
    data: Type.Array(record),
    meta: Type.Object({ pagination: Pagination, cursor: Type.Optional(ChangeCursor) }),
  })
}

/** Adds to a page what `userPageOf` declares: the newest change in the list, or else on the page. */
export function withCursor<Item extends { createdAt: number; updatedAt?: number | undefined }, Meta extends object>(
  { data, meta }: { data: Item[]; meta: Meta },
  newest?: number | undefined,
) {
  if (data.length === 0) return { data, meta }
  const updatedAt = newest ?? Math.max(...data.map((item) => item.updatedAt ?? item.createdAt))
  return { data, meta: { ...meta, cursor: { updatedAt, affix: 'prepend' as const } } }
}

export interface PageQuery {
  page?: number | undefined
  perPage?: number | undefined
}

/** Which slice of the list a page is. */
export function sliceOf({ page = 1, perPage = perPageDefault }: PageQuery) {
  const limit = Math.min(perPage, perPageMax)
  return { page, limit, offset: (page - 1) * limit }
}

export function paginationOf(total: number, count: number, { page, limit }: { page: number; limit: number }) {
  return {
    total,
    count,
    per_page: limit,
    current_page: page,
    total_pages: Math.max(1, Math.ceil(total / limit)),
  }
}

/**
 * For lists that are read on from a time: a page that ends within a second would leave the rest of that second behind. So
 * it holds fewer records then; unless all of them are of one second, where there is no better place to stop.
 */
export function wholeSeconds<Item>(page: Item[], following: Item | undefined, at: (item: Item) => number): Item[] {
  if (following === undefined) return page
  const whole = page.filter((item) => at(item) !== at(following))
  return whole.length > 0 ? whole : page
}

/** A page of rows that begin where it does and go further, if there are more: whole seconds, where one reads on from a time. */
export function pageOfRows<Row>(
  rows: Row[],
  limit: number,
  { updatedAt, page }: { updatedAt?: number | undefined; page?: number | undefined },
  at: (row: Row) => number,
): Row[] {
  const some = rows.slice(0, limit)
  const isReadOn = updatedAt !== undefined && page === undefined
  return isReadOn ? wholeSeconds(some, rows[limit], at) : some
}

type Rows<Row> = SelectQueryBuilder<Tables, never, Row>

/** One narrowing function for each filter of a list's query; a filter without one does not compile. */
export type Filters<Query extends PageQuery, Narrowed> = {
  [Name in Exclude<keyof Query, keyof PageQuery>]-?: (rows: Narrowed, value: NonNullable<Query[Name]>) => Narrowed
}

/** Answers one page of a short list: filtered, counted and cut by the database. `rows` comes ordered. */
export async function paginate<Query extends PageQuery, Narrowed, Row, Item>(
  rows: Narrowed & Pick<Rows<Row>, 'execute'>,
  filters: Filters<Query, Narrowed>,
  query: Query,
  toItem: (row: Row) => Item,
) {
  const narrowed = narrow(rows, filters, query) as unknown as Rows<Row>
  const slice = sliceOf(query)
  const { total } = (await narrowed
    .clearSelect()
    .clearOrderBy()
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow()) as { total: number }
  const found = slice.offset < total ? await narrowed.limit(slice.limit).offset(slice.offset).execute() : []
  return {
    data: found.map((row) => toItem(row as Row)),
    meta: { pagination: paginationOf(total, found.length, slice) },
  }
}

function narrow<Query extends PageQuery, Narrowed>(
  rows: Narrowed,
  filters: Filters<Query, Narrowed>,
  query: Query,
): Narrowed {
  let narrowed = rows
  for (const [name, filter] of Object.entries(filters) as [
    keyof Query,
    (rows: Narrowed, value: unknown) => Narrowed,
  ][]) {
    const value = query[name]
    if (value !== undefined) narrowed = filter(narrowed, value)
  }
  return narrowed
}
