import { Compile } from 'typebox/compile'
import type { Area } from '../../server/src/kit/area.ts'
import type { Operation } from '../../server/src/kit/operation.ts'
import { type TSchema, Type } from '../../server/src/kit/schema.ts'
import type { AppClient, House } from './house.ts'
import { assertSucceeds } from './house.ts'

/** Requests that an operation must accept or refuse, made from its declaration alone. */

interface Described {
  type?: string
  enum?: unknown[]
  anyOf?: { const?: unknown }[]
  minimum?: number
  examples?: unknown[]
  properties?: Record<string, TSchema>
  required?: string[]
}

let made = 0

/** A value that fits a schema; text is another one each time, so that unique names stay unique. */
function valueFor(schema: TSchema, name: string): unknown {
  const { type, enum: words, anyOf, minimum = 1, examples } = schema as Described
  if (words) return words[0]
  if (anyOf) return anyOf[0]?.const
  made += 1
  const samples: Record<string, unknown> = {
    string: `${name}-${made}`,
    integer: Math.max(1, minimum),
    number: Math.max(1, minimum),
    boolean: false,
    array: examples?.[0] ?? [],
    object: examples?.[0] ?? {},
  }
  return samples[type ?? '']
}

const announcedFile = { fileId: 'sample', name: 'sample.png', mimeType: 'image/png', size: 100 }

/** Bodies that name a record, where a schema cannot say which there is. */
const namingBodies: Record<string, Record<string, unknown>> = {
  transferOwnership: { uid: 'milo' },
  requestUploads: { receiverId: 'client', receiverType: 'user', files: [announcedFile] },
  sendMessage: { receiver: 'client', receiverType: 'user', data: { text: 'Sample' } },
  sendMessageToUser: { data: { text: 'Sample' } },
  sendMessageToGroup: { data: { text: 'Sample' } },
  sendMessageAsBot: { receiver: 'client', receiverType: 'user', data: { text: 'Sample' } },
  updateMessage: { data: { text: 'Another sample' } },
  sendReply: { data: { text: 'Sample' } },
  recordInteractions: { interactions: ['sample'] },
  recordInteractionsOrRead: { interactions: ['sample'] },
  setPinnedConversations: { pinnedConversations: [{ uid: 'client' }] },
  // Before the first message.
  markUserConversationUnread: { messageId: 0 },
  markGroupConversationUnread: { messageId: 0 },
}

/** Bodies to try in turn: what is required, then with one optional property more. */
export function plausibleBodies({ id, body }: Operation): (() => Record<string, unknown>)[] {
  const naming = namingBodies[id]
  if (naming) return [() => ({ ...naming })]
  const { properties = {}, required = [] } = body as Described
  const filled = (names: string[]) =>
    Object.fromEntries(names.map((name) => [name, valueFor(properties[name] as TSchema, name)]))
  const optional = Object.keys(properties).filter((name) => !required.includes(name))
  return [() => filled(required), ...optional.toReversed().map((name) => () => filled([...required, name]))]
}

/** Whether an optional property with this value is taken for one that was not sent. */
export function countsAsNotSent(schema: TSchema, value: unknown): boolean {
  return value === null || (value === '' && (schema as { 'x-empty'?: string })['x-empty'] !== 'counts')
}

const oddValues: unknown[] = [12_345.5, '', 'x'.repeat(5_000), true, null, { odd: { deep: 1 } }, [{ odd: 1 }]]

/** Bodies with one property that does not fit, or without one that is needed; `field` is the one to blame. */
export function wrongBodies(operation: Operation): { field: string; body: Record<string, unknown> }[] {
  const { properties = {}, required = [] } = operation.body as Described
  const [minimal = (): Record<string, unknown> => ({})] = plausibleBodies(operation)
  const missing = required.map((field) => {
    const { [field]: _, ...body } = minimal()
    return { field, body }
  })
  const odd = Object.entries(properties).flatMap(([field, schema]) => {
    const validator = Compile(schema)
    return oddValues
      .filter((value) => !validator.Check(value) && (required.includes(field) || !countsAsNotSent(schema, value)))
      .map((value) => ({ field, body: { ...minimal(), [field]: value } }))
  })
  const texts = Object.keys(properties).filter((field) => (properties[field] as Described).type === 'string')
  const broken = texts.flatMap((field) =>
    ['\0', '\ud800'].map((value) => ({ field, body: { ...minimal(), [field]: value } })),
  )
  return [...missing, ...odd, ...broken]
}

const oddByType: Record<string, string[]> = {
  integer: ['abc', '1.5', '1e3', '0x10', '99999999999999999999'],
  string: ['%00'],
}

const oddBooleans = ['maybe', '2', 'yes']

/** Query strings with one value that does not fit. Only areas of the calls host mind a boolean that is none. */
export function wrongQueries({ query }: Operation, { host }: Area): { field: string; search: string }[] {
  return Object.entries((query as Described).properties ?? {}).flatMap(([field, schema]) => {
    const { type = '', minimum } = schema as Described
    const tooSmall = minimum === undefined ? [] : [String(minimum - 1), String(minimum - 2)]
    const odd = type === 'boolean' && host === 'call' ? oddBooleans : (oddByType[type] ?? [])
    return [...odd, ...tooSmall].map((value) => ({ field, search: `?${field}=${value}` }))
  })
}

/** Query strings that count as if they were not sent. */
export function emptyQueries({ query }: Operation, { host }: Area): string[] {
  return Object.entries((query as Described).properties ?? {}).flatMap(([field, schema]) => {
    const isLenient = (schema as Described).type === 'boolean' && host !== 'call'
    return [`${field}=`, `${field}[0]=`, ...(isLenient ? oddBooleans.map((odd) => `${field}=${odd}`) : [])]
  })
}

/** Filters that know a few words only. */
export function wordFilters({ query }: Operation): string[] {
  const properties = Object.entries((query as Described).properties ?? {})
  return properties.filter(([, schema]) => (schema as Described).enum).map(([name]) => name)
}

export interface Stage {
  house: House
  app: AppClient
}

/** How a record comes about that a path can name; one line for each parameter name there is. */
const makers: Record<string, (stage: Stage, madeBefore: Record<string, string>) => Promise<string>> = {
  apiKey: async ({ app }) =>
    assertSucceeds(await app.post('/apikeys', { name: String(valueFor(Type.String(), 'sample')) })).data.apiKey,
  appId: async ({ house }) =>
    assertSucceeds(await house.management.post('/apps', { name: 'sample', region: 'us' })).data.id,
  // The sweep's client is an admin of it, so that what clients may do in a group can be tried.
  guid: async ({ app }) => {
    const guid = String(valueFor(Type.String(), 'guid'))
    const members = { admins: ['client'] }
    return assertSucceeds(await app.post('/groups', { guid, name: 'Sample', members })).data.guid
  },
  permission: async () => 'initiateCall',
  role: async ({ app }) =>
    assertSucceeds(await app.post('/roles', { role: String(valueFor(Type.String(), 'role')), name: 'Sample' })).data
      .role,
  scope: async () => 'moderator',
  // The sweep's client has a message from them, so that there is a conversation of the two.
  uid: async ({ app }) => {
    const body = { uid: String(valueFor(Type.String(), 'uid')), name: 'Sample', tags: ['sample'] }
    const { uid } = assertSucceeds(await app.post('/users', body)).data
    await say(app, uid, 'client', { text: 'Sample' })
    return uid
  },
  authToken: async ({ app }, { uid }) =>
    assertSucceeds(await app.post(`/users/${uid}/auth_tokens`, { force: true })).data.authToken,
  sessionId: async ({ app }) =>
    (await app.play({ initiator: 'nora', receiver: 'milo', steps: [{ after: 3, do: 'cancel' }] })).sessionId,
  // A message that everything can be done with, and of which the sweep's client has done what is their own affair.
  id: async ({ app }) => {
    await app.post('/users', { uid: 'milo', name: 'Milo' })
    const interactiveData = { cardActions: [{ elementType: 'button', elementId: 'sample' }] }
    const data = { text: 'Sample for <@uid:client>', interactiveData, allowSenderInteraction: true }
    const id = await say(app, 'client', 'milo', data, { category: 'interactive', tags: ['sample'] })
    for (const act of ['save', 'thread/subscription', 'reactions/sample']) {
      assertSucceeds(await app.post(`/messages/${id}/${act}`, undefined, { onBehalfOf: 'client' }))
    }
    return id
  },
  reaction: async () => 'sample',
  conversationId: async ({ app }) => {
    await app.post('/users', { uid: 'milo', name: 'Milo' })
    await say(app, 'milo', 'client', { text: 'Sample' })
    return 'client_user_milo'
  },
}

async function say(app: AppClient, from: string, receiver: string, data: object, more: object = {}): Promise<string> {
  const body = { receiver, receiverType: 'user', data, ...more }
  return assertSucceeds(await app.post('/messages', body, { onBehalfOf: from })).data.id
}

/** What else must be there before an operation can succeed with the body that its schema gives as an example. */
const arrangements: Record<string, (stage: Stage, made: Record<string, string>) => Promise<void>> = {
  async removeFriends({ app }, { uid }) {
    await app.post('/users', { uid: 'milo', name: 'Milo' })
    assertSucceeds(await app.post(`/users/${uid}/friends`, { accepted: ['milo'] }))
  },
  async sendMessageAsBot({ app }, { uid }) {
    await app.post('/roles', { role: 'bot', name: 'Bot' })
    assertSucceeds(await app.put(`/users/${uid}`, { role: 'bot' }))
  },
  getMember: addSample,
  // Without an acting user the app replies, which it does in groups.
  async sendReply(stage, made) {
    const guid = await makers.guid?.(stage, made)
    const body = { receiver: guid, receiverType: 'group', data: { text: 'Sample' } }
    made.id = assertSucceeds(await stage.app.post('/messages', body, { onBehalfOf: 'client' })).data.id
  },
  changeMemberScope: addSample,
  kickMember: addSample,
  banUser: addSample,
  banMember: addSample,
  unbanUser: banSample,
  unbanMember: banSample,
  async joinGroup({ app }, { guid }) {
    assertSucceeds(await app.delete(`/groups/${guid}/members/client`))
  },
  async transferOwnership({ app }, { guid }) {
    await app.post('/users', { uid: 'milo', name: 'Milo' })
    assertSucceeds(await app.post(`/groups/${guid}/members`, { participants: ['milo'] }))
    assertSucceeds(await app.put(`/groups/${guid}`, { owner: 'client' }))
  },
}

async function addSample({ app }: Stage, { guid, uid }: Record<string, string>): Promise<void> {
  assertSucceeds(await app.post(`/groups/${guid}/members`, { participants: [uid] }))
}

async function banSample({ app }: Stage, { guid, uid }: Record<string, string>): Promise<void> {
  assertSucceeds(await app.post(`/groups/${guid}/members`, { usersToBan: [uid] }))
}

export function paramsOf({ path }: Operation): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
}

/** The path with a new record for each of its parameters. */
export async function pathWithRecords(operation: Operation, path: string, stage: Stage): Promise<string> {
  const made = await makeRecords(paramsOf(operation), stage)
  await arrangements[operation.id]?.(stage, made)
  return filledPath(path, made)
}

/** A new record for every parameter that a path can have. */
export function recordsOfEveryKind(stage: Stage): Promise<Record<string, string>> {
  return makeRecords(Object.keys(makers), stage)
}

async function makeRecords(names: string[], stage: Stage): Promise<Record<string, string>> {
  const made: Record<string, string> = {}
  for (const name of names) {
    const make = makers[name]
    if (!make) throw new Error(`Say in tests/support/samples.ts how a record for {${name}} is made.`)
    made[name] = await make(stage, made)
  }
  return made
}

export function filledPath(path: string, records: Record<string, string>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => records[name] ?? '')
}
