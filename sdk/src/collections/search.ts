import { listGroupMessages, listMessages, listUserMessages } from '../generated/operations.ts'
import type { Message } from '../generated/records.ts'
import type { UserCall } from '../http/call.ts'
import type { Cursor, CursorPage } from '../operation.ts'
import type { To } from './address.ts'

const pageSize = 50

/** Messages that hold all words, the newest first; fetched page by page while they are read. */
export async function* search(request: UserCall, words: string, to: To | undefined): AsyncGenerator<Message> {
  let cursor: Cursor = { affix: 'prepend' }
  for (;;) {
    const { data, meta } = await page(request, { searchKey: words, limit: pageSize, cursor }, to)
    if (data.length === 0) return
    yield* data.reverse()
    cursor = meta.previous
  }
}

interface Asked {
  searchKey: string
  limit: number
  cursor: Cursor
}

async function page(request: UserCall, asked: Asked, to: To | undefined): Promise<CursorPage<Message>> {
  if (!to) return (await request(listMessages, asked)) as CursorPage<Message>
  const found = await ('user' in to
    ? request(listUserMessages, { ...asked, uid: to.user })
    : request(listGroupMessages, { ...asked, guid: to.group }))
  return found as CursorPage<Message>
}
