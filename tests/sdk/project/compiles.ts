import { createClient, ParleyError, type Readable } from '@parley/sdk'
import { createAdmin, createManagement } from '@parley/sdk/admin'
import {
  banMember,
  type EventPayloads,
  type Group,
  joinGroup,
  listUsers,
  type Member,
  type Message,
  type User,
} from '@parley/sdk/api'

/** What people write compiles, and is typed down to the last value: nothing of it is `any`. */

type IsAny<Type> = 0 extends 1 & Type ? true : false
type Same<One, Other> = IsAny<One> extends true ? false : [One, Other] extends [Other, One] ? true : false
function assertType<Type extends true>(holds: Type): Type {
  return holds
}

const admin = createAdmin({ url: 'https://4be21f90.api-eu.example.org', apiKey: 'key', timeoutMs: 10_000, retries: 1 })
const management = createManagement({ url: 'https://apimgmt.example.org', key: 'key', secret: 'secret' })

export async function reading(signal: AbortSignal) {
  for await (const user of admin.users.list({ role: 'default' }, { signal })) assertType<Same<typeof user, User>>(true)
  for await (const { data } of admin.users.list().pages()) assertType<Same<typeof data, User[]>>(true)
  const first = await admin.messages.list({ hasMentions: true }).take(200)
  assertType<Same<typeof first, Message[]>>(true)
  const page = await admin.call(listUsers, { perPage: 5 })
  assertType<Same<typeof page.meta.pagination.total, number>>(true)
  const app = await management.apps.get({ appId: 'a' })
  assertType<Same<typeof app.id, string>>(true)
}

export async function writing() {
  const message = await admin.as('ada').messages.send({ to: { group: 'boats' }, text: 'Hi' })
  assertType<Same<typeof message, Message>>(true)
  const done = await admin.call(banMember, { guid: 'boats', uid: 'max' }, { idempotencyKey: 'ban-17' })
  assertType<Same<typeof done.success, true>>(true)
}

export function explaining(error: unknown) {
  if (ParleyError.is(error, 'ERR_BLOCKED_RECEIVER')) assertType<Same<typeof error.code, 'ERR_BLOCKED_RECEIVER'>>(true)
  if (ParleyError.is(error)) assertType<IsAny<typeof error.details> extends false ? true : false>(true)
}

export function hearing({ message }: EventPayloads['message.sent']) {
  assertType<Same<typeof message, Message>>(true)
}

/** As `useSyncExternalStore` takes it. */
export const shown = <Value>({ get, subscribe }: Readable<Value>) => [subscribe, get, get] as const

export async function talking() {
  const client = createClient({
    url: 'https://4be21f90.api-eu.example.org',
    token: async ({ reason }) => `token for ${reason}`,
    presence: { roles: ['crew'] },
    storage: localStorage,
    autoReceipts: 'read',
    runtime: { webSocket: () => WebSocket },
  })
  const { uid } = await client.login()
  assertType<Same<typeof uid, string>>(true)
  const stop = client.on('message.edited', ({ message, by }) => {
    assertType<Same<typeof message, Message>>(true)
    assertType<Same<typeof by.uid, string>>(true)
  })
  client.on('group.memberForgotten', ({ uid: gone }) => assertType<Same<typeof gone, string>>(true))
  client.on('receipt.read', ({ messageId }) => assertType<Same<typeof messageId, string>>(true))
  const lin = client.conversation({ user: 'lin' })
  for (const item of lin.messages.get().items) {
    if (item.state === 'sent') assertType<Same<typeof item.message, Message>>(true)
    else item.pending.retry()
  }
  const sent = lin.send({ text: 'Boat at ten', quote: '17' })
  const message = await sent.done
  assertType<Same<typeof message, Message>>(true)
  const [first] = client.conversations.get().items
  if (first) assertType<Same<typeof first.unread, number>>(true)
  const done = await client.call(joinGroup, { guid: 'boats' })
  assertType<IsAny<typeof done> extends false ? true : false>(true)
  shown(client.connection)
  stop()
  client.logout()
}

/** A tour of everything that a page uses. */
export async function touring(file: File) {
  const client = createClient({ url: 'https://4be21f90.api-eu.example.org', token: 'token', presence: 'friends' })
  const { items, hasMore, status, unreadTotal } = client.conversations.get()
  assertType<Same<typeof unreadTotal, number>>(true)
  const lin = client.conversation({ user: 'lin' })
  const { atEnd, membership } = lin.messages.get()
  await lin.messages.loadOlder()
  await lin.messages.jumpTo('17')
  await lin.messages.jumpToEnd()

  const upload = lin.upload(file)
  const { loaded, total, state } = upload.get()
  const sent = lin.send({ text: 'Plan', files: [upload], quote: '17' })
  const { key, error } = sent.get()
  lin.send({ type: 'audio', files: [upload, file] })
  upload.abort()
  for (const entry of client.outbox.get()) {
    entry.retry()
    entry.discard()
  }

  const thread = lin.thread('17')
  thread.send({ text: 'Which?' })
  await thread.follow()
  await Promise.all([lin.react('17', '🚣'), lin.edit('17', { text: 'Boats' }), lin.delete('17'), lin.pin('17')])
  await Promise.all([lin.markRead(), lin.markUnread('17')])
  const [receipt] = lin.receipts('17').get().items
  if (receipt) assertType<Same<typeof receipt.receiptType, 'delivery' | 'read'>>(true)
  const [pinned] = lin.pinned.get().items
  if (pinned) assertType<Same<typeof pinned, Message>>(true)
  lin.typing.keystroke()
  const [writer] = lin.typing.get()
  const { online, lastActiveAt } = client.presence('lin').get()
  for await (const hit of client.search('oars', { in: lin })) assertType<Same<typeof hit, Message>>(true)

  const boats = await client.groups.create({ guid: 'boats', type: 'public' })
  await boats.join()
  const [member] = shown(boats.members)[1]().items
  if (member) assertType<Same<typeof member, Member>>(true)
  await Promise.all([boats.kick('max'), boats.ban('max'), boats.unban('max'), boats.add(['max'], 'moderator')])
  await Promise.all([
    boats.changeScope('max', 'admin'),
    boats.transferOwnership('max'),
    boats.update({ name: 'Boats' }),
  ])
  await boats.members.loadMore()
  await boats.leave()
  await client.group('boats').delete()
  for await (const group of client.groups.list({ searchKey: 'oars' })) assertType<Same<typeof group, Group>>(true)
  const people = await client.users.list({ searchKey: 'l' }).take(20)
  assertType<Same<typeof people, User[]>>(true)
  await client.block('max')
  await client.unblock('max')
  const blocked = client.blocked.get().items
  const me = client.me.get()
  await client.updateMe({ name: 'Ada' })
  await client.call(banMember, { guid: 'boats', uid: 'max' })
  try {
    await sent.done
  } catch (refused) {
    if (ParleyError.is(refused, 'ERR_BLOCKED_RECEIVER')) explaining(refused.details)
  }
  await client.logout()
  return {
    items,
    hasMore,
    status,
    atEnd,
    membership,
    loaded,
    total,
    state,
    key,
    error,
    writer,
    online,
    lastActiveAt,
    me,
    blocked,
  }
}
