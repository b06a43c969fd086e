import { areas } from '../../server/src/areas/index.ts'
import type { Area } from '../../server/src/kit/area.ts'
import type { Operation } from '../../server/src/kit/operation.ts'
import type { TSchema } from '../../server/src/kit/schema.ts'
import type { Random } from './random.ts'

/** Makes requests of every degree of wrongness, from valid ones to ones that nobody in their right mind would send. */
export interface FuzzRequest {
  /** The area whose operation is meant. */
  area: string
  method: string
  host: string
  path: string
  headers: Record<string, string>
  raw: string | undefined
}

type RecordName =
  | 'sessionId'
  | 'apiKey'
  | 'appId'
  | 'uid'
  | 'authToken'
  | 'role'
  | 'guid'
  | 'scope'
  | 'permission'
  | 'id'
  | 'conversationId'
  | 'reaction'

/** What a generator may name so that requests get past the first checks. */
export interface Known {
  domain: string
  appId: string
  region: string
  apiKey: string
  authKey: string
  management: { key: string; secret: string }
  /** Records that requests may read, change and delete; it grows as they are created. */
  records: Record<RecordName, string[]>
  /** Messages that were sent, so that requests can come from those who see them. */
  messages: SentMessage[]
}

export interface SentMessage {
  id: string
  sender: string
  receiver: string
  receiverType: string
  parentId?: string
  category: string
}

const recordsKeptMax = 200

/** Remembers the ids in an answer, so that later requests can name them. */
export function learn({ records, messages }: Known, data: unknown): void {
  const { sessionId, apiKey, id, authToken, role, guid, conversationId, sentAt } = (data ?? {}) as Record<
    string,
    unknown
  >
  const add = (list: string[], value: unknown) => {
    if (typeof value !== 'string') return
    if (list.length < recordsKeptMax) list.push(value)
    else list[value.length % recordsKeptMax] = value
  }
  add(records.sessionId, sessionId)
  add(records.apiKey, apiKey)
  add(sentAt === undefined ? records.appId : records.id, id)
  add(records.conversationId, conversationId)
  add(records.authToken, authToken)
  add(records.role, role)
  add(records.guid, guid)
  if (typeof sentAt === 'number') remember(messages, data as SentMessage)
}

/** Users and groups that no request changes but those made for them; their talk goes on whatever else happens. */
export const talk = { role: 'talker', uids: ['tom', 'tia', 'tess', 'tor'], guids: ['trio', 'team'], bot: 'tbot' }

function remember(
  messages: SentMessage[],
  { id, sender, receiver, receiverType, parentId, category }: SentMessage,
): void {
  if (!talk.uids.includes(sender) || ![...talk.uids, ...talk.guids].includes(receiver)) return
  messages.push({ id, sender, receiver, receiverType, category, ...(parentId && { parentId }) })
  if (messages.length > recordsKeptMax) messages.shift()
}

interface Placed {
  area: string
  prefixes: string[]
  management: boolean
  operation: Operation
}

const prefixesOf: Record<Area['mount'], string[]> = {
  v3: ['/v3', '/v3', '/v3', '/v3.0', '/v2', '/V3', ''],
  management: ['', '', '', '/mgmt', '/v3'],
  emulator: ['/_emulator', '/_emulator', '/_emulator', '/v3/_emulator'],
}

const operations: Placed[] = areas.flatMap(({ name, mount, operations: declared }) =>
  declared.map((operation) => ({
    area: name,
    prefixes: prefixesOf[mount],
    management: mount === 'management',
    operation,
  })),
)

/**
 * Operations that spoil the others if they come often: apps are listed with their keys, the clock is everybody's, and
 * where the users and groups are gone nothing can be said.
 */
const seldom = new Set([
  'createApp',
  'setClock',
  'resetClock',
  'deleteUser',
  'deactivateUsers',
  'deleteGroup',
  'deleteConversation',
])
const seldomChance = 0.1

function chosenOperation(random: Random): Placed {
  const chosen = random.pick(operations)
  return seldom.has(chosen.operation.id) && !random.chance(seldomChance) ? chosenOperation(random) : chosen
}

const oddMethods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'PURGE', 'M-SEARCH']
const unknownPaths = [
  '/',
  '//',
  '/v3',
  '/v3/',
  '/v4/calls',
  '/v3/unknown',
  '/v3/calls/a/b/c/d',
  '/mgmt',
  '/_emulator',
  '/../../etc/passwd',
  '/v3/%2e%2e/%2e%2e/etc/passwd',
  '/v3/calls/%',
  '/v3/calls/%zz',
  '/v3/calls/%ff%fe',
  '/%00',
  '*',
  '/v3/__proto__',
  '/v3/calls;a=b',
  `/v3/${'a/'.repeat(2_000)}`,
]
const publicPaths = ['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs']

const oddTexts = [
  '',
  ' ',
  'a',
  'NORA',
  '0',
  '-1',
  'null',
  'undefined',
  'true',
  "' OR '1'='1",
  "'; DROP TABLE calls; --",
  '" || 1=1 --',
  '%',
  '_%\\',
  '#{7*7}',
  '{{7*7}}',
  '../../../etc/passwd',
  '<script>alert(1)</script>',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  '\0',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  '\u202eabc',
  'é'.normalize('NFD'),
  '👩‍👩‍👧‍👦',
  'ﷺ'.repeat(20),
  'İıſK',
  '\r\nX-Injected: yes',
  'a'.repeat(101),
  'a'.repeat(5_000),
  '1e309',
  '99999999999999999999',
  '9223372036854775808',
  '-9223372036854775809',
  '0x10',
  '1.5',
  'NaN',
  'Infinity',
]

const oddNumbers = [
  0,
  -0,
  -1,
  1,
  1.5,
  1e-300,
  1e21,
  1e308,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  2 ** 63,
  4_102_444_800,
  32_503_680_000,
  Number.MAX_SAFE_INTEGER,
]

const booleanSpellings = ['true', 'false', 'TRUE', 'False', '1', '0', 'yes', 'no', 'on', '', 'truefalse', '2', '+true+']
const brokenEncodings = [
  '%',
  '%z',
  '%zz',
  '%c3%28',
  '%ed%a0%80',
  '%00',
  '%u0041',
  '%25%',
  '%F0%9F%92',
  '+',
  '&',
  '=',
  '[]',
]

/** A whole request. */
export function fuzzRequest(random: Random, known: Known): FuzzRequest {
  const { area, prefixes, management, operation } = chosenOperation(random)
  if (areasOfTalk.includes(area) && !endsTalk.has(operation.id) && random.chance(soundChance)) {
    return soundRequest(random, known, area, operation)
  }
  const method = random.chance(0.9) ? operation.method : random.pick(oddMethods)
  const headers = headersFor(random, known, management)
  return {
    area,
    method,
    host: hostFor(random, known, management),
    path: random.chance(0.93) ? pathFor(random, known, prefixes, operation) : strayPath(random),
    headers,
    raw: bodyFor(random, known, operation, method),
  }
}

/** Where a request must fit what was said and by whom; made up blindly, hardly any gets as far as the work. */
export const areasOfTalk = ['messages', 'conversations', 'reactions', 'threads', 'pins', 'interactions']
const soundChance = 0.45

/** These would leave the talkers with nothing to talk about. */
const endsTalk = new Set(['resetUserConversation', 'resetGroupConversation', 'deleteConversation'])

/** A request about something that was really said, by somebody who was there; now and then with one thing wrong. */
function soundRequest(random: Random, known: Known, area: string, operation: Operation): FuzzRequest {
  const { appId, region, domain, apiKey } = known
  const message = messageFor(random, known, operation)
  const actor =
    message.receiverType === 'group' ? random.pick(talk.uids) : random.pick([message.sender, message.receiver])
  const params = { ...paramsFor(message, actor), reaction: random.pick(known.records.reaction) }
  if (operation.id === 'sendMessageAsBot') params.uid = talk.bot
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: keyof typeof params) =>
    encodeURIComponent(params[name]),
  )
  const search = random.chance(0.4) ? `${fittingQuery(random, operation.query, message)}&` : ''
  const acts = operation.onBehalfOf === 'required' || random.chance(0.6)
  const body = soundBody(random, known, operation, message)
  return {
    area,
    method: operation.method,
    host: `${appId}.api-${region}.${domain}`,
    path: `/v3${path}?${search}limit=3&perPage=3`,
    headers: { apikey: apiKey, ...(acts && { onBehalfOf: actor }) },
    raw: operation.hasBody && !bodyless.includes(operation.method) ? textOf(random, body) : undefined,
  }
}

function messageFor(random: Random, { messages }: Known, { path, id }: Operation): SentMessage {
  const wanted = messages.filter(({ receiverType, category, parentId }) => {
    if (path.startsWith('/users/{uid}/conversation')) return receiverType === 'user'
    if (path.startsWith('/groups/{guid}')) return receiverType === 'group'
    if (id === 'recordInteractions') return category === 'interactive'
    return !path.includes('/thread') || parentId === undefined
  })
  return random.pick(wanted)
}

function paramsFor({ id, sender, receiver, receiverType }: SentMessage, actor: string) {
  const isGroup = receiverType === 'group'
  return {
    id,
    uid: isGroup || actor === receiver ? sender : receiver,
    guid: isGroup ? receiver : (talk.guids[0] ?? ''),
    conversationId: isGroup ? `group_${receiver}` : [sender, receiver].toSorted().join('_user_'),
  }
}

/** What a talker may say. */
export function soundMessage(random: Random): object {
  const toGroup = random.chance(0.4)
  const button = { elementType: 'button', elementId: 'yes' }
  const [category, type, data] = random.pick<[string, string, object]>([
    ['message', 'text', { text: `hello <@uid:${random.pick(talk.uids)}>` }],
    ['custom', 'place', { customData: { a: 1 } }],
    [
      'interactive',
      'card',
      {
        interactiveData: { cardActions: [button] },
        interactionGoal: { type: 'anyAction' },
        allowSenderInteraction: true,
      },
    ],
  ])
  const receiver = random.pick(toGroup ? talk.guids : talk.uids)
  return { receiver, receiverType: toGroup ? 'group' : 'user', category, type, data, tags: ['talk'] }
}

function soundBody(
  random: Random,
  { records }: Known,
  operation: Operation,
  { id }: SentMessage,
): Record<string, unknown> {
  const bodies: Record<string, () => object> = {
    sendMessage: () => soundMessage(random),
    sendMessageToUser: () => soundMessage(random),
    sendMessageToGroup: () => soundMessage(random),
    sendMessageAsBot: () => soundMessage(random),
    sendReply: () => ({ data: { text: `hello <@uid:${random.pick(talk.uids)}>` } }),
    updateMessage: () => ({ data: { text: 'other words' }, tags: ['edited'] }),
    deleteMessage: () => ({ permanent: random.chance(0.2) }),
    addReactionInBody: () => ({ reaction: random.pick(records.reaction) }),
    recordInteractions: () => ({ interactions: ['yes'] }),
    recordInteractionsOrRead: () => (random.chance(0.5) ? { interactions: ['yes'] } : {}),
    setPinnedConversations: () => ({ pinnedConversations: [{ uid: random.pick(records.uid) }] }),
  }
  const marks = ['Read', 'Delivered', 'Unread'].some((mark) => operation.id.endsWith(mark))
  const made = bodies[operation.id]?.() ?? (marks ? { messageId: id } : fitting(random, operation.body, 0))
  const body = made as Record<string, unknown>
  if (random.chance(0.1)) spoil(random, body)
  return body
}

/** One or two filters with values that can be found. */
function fittingQuery(random: Random, schema: TSchema, { id, sender }: SentMessage): string {
  const { properties = {} } = schema as Described
  const names = Object.keys(properties)
  if (names.length === 0) return 'unknown=1'
  const parts = Array.from({ length: random.whole(1, 2) }, () => {
    const name = random.pick(names)
    const { type, enum: words, minimum } = properties[name] as Described
    if (words) return `${name}=${String(random.pick(words))}`
    if (type === 'boolean') return `${name}=${random.chance(0.5)}`
    if (type === 'integer') return `${name}=${name === 'id' ? id : Math.max(minimum ?? 0, random.whole(0, 12))}`
    return `${name}=${random.pick([sender, 'message', 'text', 'hello', 'talk', '1'])}`
  })
  return parts.join('&')
}

function strayPath(random: Random): string {
  const path = random.chance(0.2) ? random.pick(publicPaths) : random.pick(unknownPaths)
  return random.chance(0.3) ? `${path}?${random.pick(brokenEncodings)}=${random.pick(brokenEncodings)}` : path
}

function hostFor(random: Random, { domain, appId, region, records }: Known, management: boolean): string {
  if (random.chance(0.9))
    return management
      ? `apimgmt.${domain}`
      : `${appId}.${random.pick(['api', 'apiclient', 'call'])}-${region}.${domain}`
  return random.pick([
    domain,
    '127.0.0.1',
    'unknown.example',
    '',
    `${appId}.api-eu.${domain}`,
    `${appId}.apiclient-eu.${domain}`,
    `api-${region}.${domain}`,
    `api-eu.${domain}`,
    `${'a'.repeat(33)}.api-us.${domain}`,
    `${random.pick(records.appId) ?? 'x'}.api-${region}.${domain}`,
    `${appId.toUpperCase()}.API-${region}.${domain}.`,
    'a..b',
    '[::1]:99999',
    '__proto__',
  ])
}

function headersFor(random: Random, known: Known, management: boolean): Record<string, string> {
  const headers: Record<string, string> = management ? { ...known.management } : { apikey: known.apiKey }
  if (random.chance(0.06)) {
    const name = random.pick(['apikey', 'key', 'secret', 'authorization'])
    headers[name] = random.pick([
      ...oddTexts.map(asHeader),
      known.authKey,
      `Basic ${known.management.key}`,
      'Basic Og==',
      'Bearer x',
    ])
  }
  if (random.chance(0.1)) {
    headers.authToken = random.pick([...known.records.authToken, ...oddTexts.map(asHeader)])
    if (random.chance(0.9)) delete headers.apikey
  }
  if (random.chance(0.04)) delete headers[random.pick(['apikey', 'key', 'secret'])]
  if (random.chance(0.3))
    headers.onBehalfOf = random.chance(0.8) ? random.pick(known.records.uid) : asHeader(random.pick(oddTexts))
  if (random.chance(0.05)) headers.appid = random.chance(0.5) ? known.appId : asHeader(random.pick(oddTexts))
  if (random.chance(0.15))
    headers['Idempotency-Key'] = random.chance(0.7) ? `key-${random.whole(1, 50)}` : asHeader(random.pick(oddTexts))
  if (random.chance(0.2)) {
    headers['content-type'] = random.pick(
      ['application/json', 'text/plain', 'multipart/form-data', 'application/json; charset=utf-16', '', '💥'].map(
        asHeader,
      ),
    )
  }
  if (random.chance(0.03)) headers['x-forwarded-proto'] = random.pick(['http', 'https', 'gopher'])
  if (random.chance(0.03)) headers['x-forwarded-for'] = random.pick(['1.2.3.4', 'junk', '::1, 10.0.0.1'])
  return headers
}

/** What a header line can carry: one byte per character and no control characters. */
function asHeader(text: string): string {
  const printable = Buffer.from(text, 'utf8').filter((byte) => byte >= 0x20 && byte !== 0x7f)
  return Buffer.from(printable.subarray(0, 2_000)).toString('latin1')
}

function pathFor(random: Random, known: Known, prefixes: string[], { path, query }: Operation): string {
  const prefix = random.chance(0.85) ? (prefixes[0] ?? '') : random.pick(prefixes)
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => paramFor(random, known, name))
  // Whole pages of a hundred records teach nothing more and take the time of many requests.
  const search = random.chance(0.5) ? queryFor(random, known, query) : random.chance(0.9) ? 'perPage=3' : ''
  return `${prefix}${filled}${search === '' ? '' : `?${search}`}`
}

function paramFor(random: Random, { records }: Known, name: string): string {
  const valid = records[name as keyof Known['records']]
  if (valid && valid.length > 0 && random.chance(0.6)) return encodeURIComponent(random.pick(valid))
  const text = random.pick(oddTexts)
  if (random.chance(0.2))
    return random.pick(['%00', '%2F', '%2f..%2f', '%zz', '%', '%ed%a0%80', '%c3%28', 'x'.repeat(6_000)])
  return encoded(text)
}

/** Percent-encoded, and lone surrogates as the bytes a careless client would send. */
function encoded(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : '%ed%a0%80'
}

interface Described {
  type?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: TSchema[]
  properties?: Record<string, TSchema>
  required?: string[]
  items?: TSchema
  pattern?: string
  minimum?: number
  maximum?: number
  examples?: unknown[]
}

function queryFor(random: Random, known: Known, schema: TSchema): string {
  const { properties = {} } = schema as Described
  const names = [...Object.keys(properties), 'unknown', '__proto__', 'page', 'perPage']
  const parts = Array.from({ length: random.whole(1, 4) }, () => {
    const name = random.pick(names)
    const suffix = random.chance(0.1) ? random.pick(['[]', '[0]', '[a]', '%5B%5D', '.x']) : ''
    return `${name}${suffix}=${queryValue(random, known, properties[name] as Described | undefined)}`
  })
  if (random.chance(0.05)) parts.push(random.pick(brokenEncodings))
  if (random.chance(0.1)) parts.push(...parts)
  return parts.join('&')
}

function queryValue(random: Random, { records }: Known, described: Described | undefined): string {
  if (random.chance(0.5)) {
    if (described?.enum) return String(random.pick(described.enum))
    if (described?.type === 'boolean') return random.pick(booleanSpellings)
    if (described?.type === 'integer') return String(random.whole(-2, 12))
    const some = random.pick([records.uid, records.id, records.conversationId, records.guid])
    if (some.length > 0) return encoded(random.pick(some))
  }
  return random.pick([
    () => encoded(random.pick(oddTexts)),
    () => String(random.pick(oddNumbers)),
    () => random.pick(brokenEncodings),
    () => random.pick(booleanSpellings),
    () => ['a', 'b', random.pick(oddTexts.map(encoded))].join(','),
  ])()
}

const bodyless = ['GET', 'HEAD', 'TRACE', 'OPTIONS']

function bodyFor(random: Random, known: Known, operation: Operation, method: string): string | undefined {
  if (bodyless.includes(method)) return random.chance(0.02) ? '{"a":1}' : undefined
  if (random.chance(0.08)) return random.pick(oddBodies)()
  if (operation.id === 'playCallScript' && random.chance(0.25)) return JSON.stringify(goodScript(random, known))
  if (sendsMessages.has(operation.id) && random.chance(0.7)) return messageText(random, known)
  if (!operation.hasBody && random.chance(0.7)) return undefined
  const body = fitting(random, operation.body, 0) as Record<string, unknown>
  for (let damage = random.whole(0, 2); damage > 0; damage -= 1) spoil(random, body)
  return textOf(random, body)
}

const oddBodies: (() => string)[] = [
  () => '',
  () => ' ',
  () => '{',
  () => '[]',
  () => '[[[[]]]]',
  () => 'null',
  () => 'true',
  () => '"text"',
  () => '12',
  () => '{"a":}',
  () => '{"name":"a"}{"name":"b"}',
  () => '\ufeff{"name":"marked"}',
  () => 'name=a&scope=b',
  () => '<xml/>',
  () => '\0\0\0\0',
  () => '{"name":"\\ud800"}',
  () => '{"name":"a\\u0000b"}',
  () => '{"\\u0000":"x","name":"n"}',
  () => '{"__proto__":{"scope":"fullAccess"},"name":"p"}',
  () => '{"constructor":{"prototype":{"polluted":true}},"name":"p"}',
  () => `{"name":${'9'.repeat(400)}}`,
  () => `{"name":-${'1'.repeat(20)}e${'9'.repeat(10)}}`,
  () => `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  () => `${'{"a":'.repeat(1_500)}1${'}'.repeat(1_500)}`,
  () => JSON.stringify({ name: 'x'.repeat(9_000) }),
  () => JSON.stringify({ name: 'x'.repeat(40_000) }),
  () => JSON.stringify({ name: 'x'.repeat(1_500_000) }),
  () => JSON.stringify(Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`field${index}`, index]))),
]

const scriptSteps = [
  'join',
  'leave',
  'cameraOn',
  'cameraOff',
  'vanish',
  'reject',
  'ring',
  'end',
  'cancel',
  'startRecording',
  'stopRecording',
  'transcribe',
]

/** A script that has a fair chance to be played to its end. */
function goodScript(random: Random, { records }: Known): object {
  const [initiator, receiver] = [random.pick(records.uid), random.pick(records.uid)]
  const open = random.chance(0.4)
  const length = random.whole(0, 5)
  const steps = Array.from({ length }, (_, index) => ({
    after: index * random.whole(0, 40),
    do: index < 2 ? 'join' : random.pick(scriptSteps),
    uid: index % 2 === 0 ? receiver : initiator,
    deviceId: `d${index % 2}`,
  }))
  return {
    initiator,
    receiver,
    type: random.pick(['audio', 'video']),
    steps,
    ...(open && { mode: 'meet', receiverType: 'group' }),
  }
}

const sendsMessages = new Set([
  'sendMessage',
  'sendMessageToUser',
  'sendMessageToGroup',
  'sendReply',
  'sendMessageAsBot',
  'updateMessage',
])

/** A message that will often be sent, whole or with some damage. */
function messageText(random: Random, { records }: Known): string {
  const [category, type, data] = random.pick<() => [string, string, Record<string, unknown>]>([
    () => ['message', 'text', { text: `${random.pick(oddTexts)} <@uid:${random.pick(records.uid)}>` }],
    () => ['message', 'text', { text: 'https://example.org', metadata: random.pick(['{}', '{', '[]', { a: 1 }]) }],
    () => ['message', random.pick(['image', 'file']), { attachments: [attachment(random)], text: 'caption' }],
    () => [
      'message',
      random.pick(['image', 'audio']),
      { url: random.pick(['https://example.org/a.png', ...oddTexts]) },
    ],
    () => ['custom', random.pick(['place', ...oddTexts]), { customData: { a: 1 }, updateConversation: false }],
    () => ['interactive', random.pick(['form', 'card']), interactiveContent(random)],
  ])()
  const toGroup = random.chance(0.4)
  const body: Record<string, unknown> = {
    receiver: random.pick(toGroup ? records.guid : records.uid),
    receiverType: toGroup ? 'group' : 'user',
    category,
    type,
    data,
    ...(random.chance(0.2) && { muid: `m${random.whole(1, 20)}` }),
    ...(random.chance(0.2) && { tags: ['a', random.pick(oddTexts)] }),
    ...(random.chance(0.2) &&
      records.id.length > 0 && { [random.pick(['parentId', 'parentMessageId'])]: random.pick(records.id) }),
    ...(random.chance(0.2) && records.id.length > 0 && { quotedMessageId: random.pick(records.id) }),
    ...(random.chance(0.1) && {
      multipleReceivers: { uids: [random.pick(records.uid), 'u1'], guids: [random.pick(records.guid)] },
    }),
  }
  if (random.chance(0.4)) spoil(random, body)
  return textOf(random, body)
}

function attachment(random: Random): object {
  const size = random.pick<unknown>([1, '5', -1, 'x', undefined])
  return { url: 'https://example.org/a.png', name: 'a.png', mimeType: 'image/png', extension: 'png', size }
}

function interactiveContent(random: Random): Record<string, unknown> {
  const button = { elementType: 'button', elementId: 'yes', action: { actionType: 'customAction' } }
  return {
    interactiveData: { cardActions: [button, { elementType: 'label', elementId: random.pick(['no', 'yes']) }] },
    interactionGoal: { type: random.pick(['anyOf', 'allOf', 'none', 'never']), elementIds: ['yes'] },
    allowSenderInteraction: random.chance(0.5),
  }
}

const depthMax = 5

/** A value that fits a schema. */
function fitting(random: Random, schema: TSchema | undefined, depth: number): unknown {
  const described = (schema ?? {}) as Described
  if (described.const !== undefined) return described.const
  if (described.enum) return random.pick(described.enum)
  const { examples = [], properties } = described
  if (!properties && typeof examples[0] === 'object' && random.chance(0.5))
    return structuredClone(random.pick(examples))
  if (described.anyOf) return fitting(random, random.pick(described.anyOf), depth)
  switch (described.type) {
    case 'object':
      return fittingObject(random, described, depth)
    case 'array':
      return Array.from({ length: random.whole(0, 3) }, () => fitting(random, described.items, depth + 1))
    case 'string':
      return described.pattern || random.chance(0.3) ? `u${random.whole(1, 30)}` : `text ${random.whole(1, 1_000_000)}`
    case 'integer':
    case 'number':
      return random.whole(Math.max(described.minimum ?? -5, -100), Math.min(described.maximum ?? 1_000, 5_000))
    case 'boolean':
      return random.chance(0.5)
    default:
      return depth > depthMax ? null : random.pick<unknown>(['x', 1, null, [], { a: 1 }])
  }
}

function fittingObject(random: Random, { properties = {}, required = [] }: Described, depth: number): object {
  const names = Object.keys(properties).filter((name) => required.includes(name) || random.chance(0.4))
  return Object.fromEntries(names.map((name) => [name, fitting(random, properties[name], depth + 1)]))
}

/** Damages one place of a body, at the top or further in. */
function spoil(random: Random, value: Record<string, unknown>): void {
  const names = Object.keys(value)
  const name = names.length > 0 ? random.pick(names) : 'name'
  const inner = value[name]
  if (typeof inner === 'object' && inner !== null && random.chance(0.5)) {
    spoil(random, inner as Record<string, unknown>)
  } else if (random.chance(0.2)) delete value[name]
  else
    value[random.chance(0.9) ? name : random.pick(['constructor', 'toString', 'a.b', '', '\0', '\ud800'])] =
      oddValue(random)
}

function oddValue(random: Random): unknown {
  return random.pick<() => unknown>([
    () => random.pick(oddTexts),
    () => random.pick(oddNumbers),
    () => null,
    () => random.chance(0.5),
    () => [],
    () => ({}),
    () => [null, [], {}],
    () => Array.from({ length: 300 }, (_, index) => `t${index}`),
    () => nested(random.whole(10, 200)),
    () => JSON.parse('{"__proto__":{"polluted":true}}'),
    () => ({ toJSON: 1, valueOf: 'x', length: -1 }),
    () => `%raw-${random.whole(0, rawValues.length - 1)}%`,
  ])()
}

/** Values that only JSON by hand can have; a text stands in for each until all else is put into words. */
const rawValues: (() => string)[] = [
  () => '1e999',
  () => '-1e999',
  () => '9'.repeat(3_000),
  () => `0.${'1'.repeat(3_000)}`,
  () => '['.repeat(4_000) + ']'.repeat(4_000),
  () => `${'{"a":['.repeat(1_000)}1${']}'.repeat(1_000)}`,
  () => `[${'[],'.repeat(2_500)}1]`,
  () => `[${'0,'.repeat(100_000)}0]`,
  () => `{${Array.from({ length: 100_000 }, (_, n) => `"${n}":1`).join(',')}}`,
  () => '{"__proto__":{"__proto__":{"polluted":1}},"__proto__":[]}',
  () => `"${'\\\\'.repeat(1_000)}"`,
  () => `"${'\\u0000'.repeat(500)}"`,
  () => '{"a":1,"a":[],"a":{"a":1e999}}',
]

function nested(depth: number): unknown {
  let value: unknown = 'deep'
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { value }
  return value
}

/** JSON text, now and then with a property doubled or cut off. */
function textOf(random: Random, body: object): string {
  const text = JSON.stringify(body).replaceAll(/"%raw-(\d+)%"/g, (_, n) => rawValues[n]?.() ?? '')
  if (random.chance(0.02)) return text.slice(0, random.whole(0, text.length))
  if (random.chance(0.03)) return text.replace(/^\{/, '{"name":"first","name":2,')
  return text
}
