import type { Cursor, CursorPage, ListOperation, NumberedPage } from '../operation.ts'
import type { Values } from './address.ts'
import type { CallOptions } from './call.ts'
import { usageError } from './errors.ts'

type Page<Item> = NumberedPage<Item> | CursorPage<Item>

/** What a page of this kind is a page of. */
export type ItemOf<Answer> = Answer extends Page<infer Item> ? Item : never

/** A list that is fetched page by page while it is read. Read again, it is fetched again. */
export interface List<Item> extends AsyncIterable<Item> {
  /** Page by page, as the server answers them. */
  pages(): AsyncIterable<Page<Item>>
  /** The first so many, or all if there are fewer. */
  take(count: number): Promise<Item[]>
}

/** Nothing is asked for before the list is read. */
export function listOf<Input, Answer>(
  operation: ListOperation<Input, Answer, never>,
  /** Fetches a page. */
  ask: (input: Input, options: CallOptions) => Promise<Answer>,
  input: Input | undefined,
  options: CallOptions = {},
): List<ItemOf<Answer>> {
  type Item = ItemOf<Answer>
  const asked = (input ?? {}) as Values
  const pages = () => pagesOf<Item>(operation, (each) => ask(each as Input, options), asked)
  const items = () => itemsOf(pages(), isBackwards(asked))
  return {
    pages,
    [Symbol.asyncIterator]: items,
    async take(count) {
      const taken: Item[] = []
      if (count <= 0) return taken
      for await (const item of items()) {
        taken.push(item)
        if (taken.length >= count) break
      }
      return taken
    },
  }
}

async function* pagesOf<Item>(
  operation: ListOperation<never, unknown, never>,
  ask: (input: Values) => Promise<unknown>,
  first: Values,
): AsyncGenerator<Page<Item>> {
  // The first page has its number, too: without one, some lists end it where a second ends, and the next would miss the rest.
  let asked: Values | undefined = operation.pages === 'numbered' ? { page: 1, ...first } : first
  while (asked) {
    const answer = await ask(asked)
    const page = requirePage<Item>(answer)
    if (page.data.length > 0) yield page
    asked = following(asked, page)
  }
}

/** A page has records in the order of the list, also where the list is read from its end. */
async function* itemsOf<Item>(pages: AsyncIterable<Page<Item>>, backwards: boolean): AsyncGenerator<Item> {
  for await (const { data } of pages) yield* backwards ? [...data].reverse() : data
}

/** What to ask for after a page; nothing, after the last. */
function following<Item>(asked: Values, { data, meta }: Page<Item>): Values | undefined {
  if ('pagination' in meta) {
    const { current_page: page, total_pages: pages } = meta.pagination
    return page < pages ? { ...asked, page: page + 1 } : undefined
  }
  // Only an empty page is the last: one that is not full may have been cut at a better place.
  if (data.length === 0) return undefined
  return { ...asked, cursor: isBackwards(asked) ? meta.previous : meta.next }
}

function isBackwards({ cursor }: Values): boolean {
  return (cursor as Cursor | undefined)?.affix === 'prepend'
}

function requirePage<Item>(answer: unknown): Page<Item> {
  const { data, meta } = answer as Partial<Page<Item>>
  if (Array.isArray(data) && meta) return answer as Page<Item>
  throw usageError('this asks for something other than a list; use call(operation, input)')
}
