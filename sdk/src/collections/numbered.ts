import type { NumberedPage } from '../operation.ts'

/** A page that is asked for by its number, as lists are kept. */
export async function numbered<Item>(
  asking: Promise<NumberedPage<Item>>,
): Promise<{ items: Item[]; hasMore: boolean }> {
  const { data, meta } = await asking
  return { items: data, hasMore: meta.pagination.current_page < meta.pagination.total_pages }
}
