import { areas } from '../../server/src/areas/index.ts'
import {
  conversationIdOf,
  otherSide,
  type Place,
  placeOfGroup,
  placeOfUsers,
} from '../../server/src/areas/timeline/index.ts'
import { documentedPath } from '../../server/src/http/openapi.ts'
import type { Area } from '../../server/src/kit/area.ts'
import type { Operation } from '../../server/src/kit/operation.ts'
import type { TSchema } from '../../server/src/kit/schema.ts'
import { bot, role, type Stage, tellingText } from './crossing-stage.ts'
import { anyCase } from './hostile.ts'
import type { Random } from './random.ts'
import { paramsOf, plausibleBodies } from './samples.ts'

/**
 * Requests of every operation there is, made from its declaration and from ids that read alike: of both apps, of victims
 * and of attackers. A parameter that is not known here fails the search; so does an operation that never succeeds.
 */

/** Users alone, of whom none is a victim; or the app as a whole. */
export type By = 'attackers' | 'app'

export interface Attempt {
  operation: Operation
  host: string
  path: string
  headers: Record<string, string>
  body: unknown
  /** The user who is to see no more than their own; nobody, where the app itself asks. */
  actor: string | undefined
  /** The credentials are those of the other app, under the same names. */
  isStranger: boolean
}

/** These are about the install, not about an app. */
const aboutTheInstall = ['listApps', 'createApp', 'deleteApp', 'readClock', 'setClock', 'resetClock']

interface Tried {
  area: Area
  operation: Operation
}

const all: Tried[] = areas
  .flatMap((area) => area.operations.map((operation) => ({ area, operation })))
  .filter(({ operation: { id } }) => !aboutTheInstall.includes(id))

const actsAsUser = ({ operation }: Tried) =>
  operation.doors.includes('client') || (operation.doors.length > 0 && operation.onBehalfOf !== 'unsupported')

const tried: Record<By, Tried[]> = { attackers: all.filter(actsAsUser), app: all }

export const triedIds = all.map(({ operation }) => operation.id)

/** What takes a stage apart comes seldom, or there would soon be nothing left to meet on it. */
const seldom = new Set(
  `resetUserConversation resetGroupConversation deleteConversation deleteGroup kickMember leaveGroup banUser banMember
   deleteUser deactivateUsers blockUsers flushAuthTokens deleteAuthToken deleteApiKey deleteRole setRolePermissions
   setScopePermissions`.split(/\s+/),
)
const seldomChance = 0.3
const strangerChance = 0.05
const undoneChance = 0.3

/** What an attempt is about: a conversation, and who is to do something there, as a rule one who may. */
interface Scene {
  stage: Stage
  random: Random
  actor: string
  place: Place
  /** What the path has been filled with so far. */
  made: Record<string, string>
}

const soundChance = 0.7

/** Most attempts are about something that the actor has a part in, and that reads like something else. */
function sceneOn(stage: Stage, by: By, random: Random, { path }: Operation): Scene {
  const actors = by === 'attackers' ? stage.attackers : stage.hostile.uids
  const wanted = path.includes('{guid}') ? 'group' : path.startsWith('/users/{uid}/') ? 'user' : undefined
  const own = stage.own.talks.filter(
    ({ place, uids }) => (wanted ?? place.type) === place.type && uids.some((uid) => actors.includes(uid)),
  )
  if (own.length > 0 && random.chance(soundChance)) {
    const { place, uids } = random.pick(own)
    return { stage, random, actor: random.pick(uids.filter((uid) => actors.includes(uid))), place, made: {} }
  }
  return { stage, random, actor: random.pick(actors), place: random.pick(stage.hostile.places), made: {} }
}

export function attemptIn(stage: Stage, by: By, random: Random, isDone: (id: string) => boolean): Attempt {
  const { area, operation } = undone(by, random, isDone) ?? chosen(by, random)
  const scene = sceneOn(stage, by, random, operation)
  const { own, other } = stage
  const isManagement = operation.door === 'management'
  const isStranger = !isManagement && random.chance(strangerChance)
  const actor = by === 'attackers' || mustAct(operation) || random.chance(0.5) ? scene.actor : undefined
  const isNamed = operation.onBehalfOf !== 'unsupported' && actor !== undefined
  const isClient =
    actor !== undefined &&
    operation.doors.includes('client') &&
    (!(isNamed && isServers(operation)) || random.chance(0.5))
  const { app, tokens } = isStranger ? other : own
  const credentials = isClient
    ? { authToken: tokens.get(actor) ?? '' }
    : { apikey: app.apiKey, ...(isNamed && { onBehalfOf: anyCase(random, actor) }) }
  const path = documentedPath(area, operation).replaceAll(/\{(\w+)\}/g, (_, name) => {
    const isOwnUid = name === 'uid' && isAboutOneself(operation)
    scene.made[name] = String(
      isOwnUid ? scene.actor : name === 'uid' && isBots(operation) ? bot : valueFor(name, scene),
    )
    return encodeURIComponent(scene.made[name])
  })
  return {
    operation,
    host: isManagement ? 'apimgmt.localhost' : own.app.host,
    path: `${path}${queryOf(operation, scene)}`,
    headers: isManagement ? {} : credentials,
    body: operation.hasBody ? bodyOf(operation, scene, actor, path) : undefined,
    actor: isClient || isNamed ? actor : undefined,
    isStranger,
  }
}

/** What has not worked out yet comes more often, as all of it is to have been done in the end. */
function undone(by: By, random: Random, isDone: (id: string) => boolean): Tried | undefined {
  const left = random.chance(undoneChance) ? tried[by].filter(({ operation }) => !isDone(operation.id)) : []
  return left.length > 0 ? random.pick(left) : undefined
}

function chosen(by: By, random: Random): Tried {
  const one = random.pick(tried[by])
  return seldom.has(one.operation.id) && !random.chance(seldomChance) ? chosen(by, random) : one
}

const isServers = ({ doors }: Operation) => doors.includes('server')
const mustAct = (operation: Operation) => !isServers(operation) || operation.onBehalfOf === 'required'
const isBots = ({ path }: Operation) => path.startsWith('/bots/')
const isAboutOneself = ({ path }: Operation) => path.startsWith('/users/{uid}/blockedusers')

type Values = Record<string, (scene: Scene) => unknown>

/** Mostly what fits the scene; now and then anything that reads like it. */
function either<Value>({ random }: Scene, fitting: Value | undefined, others: readonly Value[]): Value {
  return fitting !== undefined && random.chance(soundChance) ? fitting : random.pick(others)
}

function uid(scene: Scene): string {
  const { stage, random, actor, place } = scene
  const { banned, uids: members } = stage.own.talks.find((talk) => talk.place === place) ?? { banned: [], uids: [] }
  const others =
    place.type === 'user' ? [otherSide(place, actor)] : [...banned, ...members].filter((one) => one !== actor)
  return anyCase(random, either(scene, others.length > 0 ? random.pick(others) : undefined, stage.hostile.uids))
}

function guid(scene: Scene): string {
  const { stage, random, place } = scene
  return anyCase(random, either(scene, place.type === 'group' ? place.first : undefined, stage.hostile.guids))
}

function conversationId(scene: Scene): string {
  const { stage, random, place } = scene
  return anyCase(random, either(scene, conversationIdOf(place.conversationKey), stage.hostile.conversationIds))
}

const uids = (scene: Scene) => Array.from({ length: scene.random.whole(1, 3) }, () => uid(scene))

/** Of what was said last in a place, it is likely that it is still there. */
const messagesMeant = 4

/** A message of the place, or any of this app or of the other. */
function messageId(scene: Scene): string {
  const { stage, random, place } = scene
  const here = [...stage.own.messages].filter(([, where]) => where.conversationKey === place.conversationKey)
  const fitting = here.length === 0 ? undefined : random.pick(here.slice(-messagesMeant))[0]
  return either(scene, fitting, [...random.pick([stage.own, stage.other]).messages.keys()])
}

/** An id that is not there yet, and reads like one that is. */
function newId({ stage, random }: Scene): string {
  return `${random.pick(stage.hostile.guids)}${random.pick(['_user_', '_', '-', 'group', 'user'])}${random.whole(0, 9)}`
}

/** What parameters, filters and fields of these names can be. */
const values: Values = {
  ...{ uid, guid, conversationId, id: messageId, messageId, parentId: messageId, quotedMessageId: messageId },
  ...{ owner: uid, uids, accepted: uids, blockedUids: uids, participants: uids, usersToBan: uids },
  ...{ sender: uid, senders: uids, mentionedUids: uids, receiverId: uid, uidsToDeactivate: uids, uidsToActivate: uids },
  guids: (scene) => [guid(scene), guid(scene)],
  members: (scene) => ({ participants: uids(scene) }),
  friends: (scene) => [scene.actor, uid(scene)],
  pinnedConversations: (scene) => [{ uid: uid(scene) }, { guid: guid(scene) }],
  reaction: ({ random }) => random.pick(['yes', 'no', 'a b', '👍']),
  interactions: () => ['sample'],
  muid: () => 'same',
  ...{ statusMessage: wordOf, description: wordOf },
  // Some names must be new.
  name: (scene) => `${wordOf(scene)} ${scene.random.whole(0, 1_000_000)}`,
  tags: (scene) => [wordOf(scene)],
  searchKey: (scene) => scene.random.pick(['fox', 'tok', wordOf(scene)]),
  role: () => role,
  scope: ({ random }) => random.pick(['admin', 'moderator', 'participant']),
  permission: () => 'initiateCall',
  apiKey: (scene) => {
    const { own, other } = scene.stage
    return either(scene, scene.random.pick(own.spareKeys), [...other.spareKeys, other.app.apiKey])
  },
  authToken: (scene) => {
    const { own, other } = scene.stage
    return either(scene, own.tokens.get(scene.made.uid?.toLowerCase() ?? ''), [...other.tokens.values()])
  },
  sessionId: (scene) => {
    const { own, other } = scene.stage
    const theirs = own.calls.find(({ called }) => called === scene.actor)
    return either(scene, theirs, [...own.calls, ...other.calls]).sessionId
  },
  appId: ({ stage }) => stage.own.app.id,
}

function wordOf({ stage }: Scene): string {
  return stage.own.word
}

function valueFor(name: string, scene: Scene): unknown {
  const make = values[name]
  if (!make) throw new Error(`Say in tests/support/crossing.ts what ${name} can be.`)
  return make(scene)
}

interface Described {
  type?: string
  enum?: unknown[]
  properties?: Record<string, TSchema>
}

const propertiesOf = (schema: TSchema) => (schema as Described).properties ?? {}
const filterChance = 0.12
// What is searched for is there, in every conversation.
const searchChance = 0.4

function queryOf({ query }: Operation, scene: Scene): string {
  const { random } = scene
  const search = new URLSearchParams()
  for (const [name, schema] of Object.entries(propertiesOf(query))) {
    if (!random.chance(name === 'searchKey' ? searchChance : filterChance)) continue
    const { type, enum: words } = schema as Described
    if (words) search.set(name, String(random.pick(words)))
    else if (values[name]) search.set(name, String(valueFor(name, scene)))
    else if (type === 'boolean') search.set(name, String(random.chance(0.8)))
    else if (type === 'integer') search.set(name, String(random.whole(1, 50)))
  }
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}

/** A body that the schema gives, with ids of ours wherever it names anybody, and texts that tell where they were said. */
function bodyOf(operation: Operation, scene: Scene, actor: string | undefined, path: string): Record<string, unknown> {
  const { random, place } = scene
  const body: Record<string, unknown> = random.pick(plausibleBodies(operation))()
  for (const name of Object.keys(propertiesOf(operation.body))) {
    if (values[name] && (name in body || random.chance(filterChance))) body[name] = valueFor(name, scene)
  }
  if ('receiver' in body) {
    body.receiverType = either(scene, place.type, ['user', 'group'])
    body.receiver = body.receiverType === 'group' ? guid(scene) : uid(scene)
  }
  if ('data' in body) body.data = { text: textFor(scene, actor, body, path) }
  if (['createUser', 'createGroup'].includes(operation.id) && random.chance(0.5)) {
    Object.assign(body, { uid: newId(scene), guid: newId(scene) })
  }
  if (operation.id === 'playCallScript') Object.assign(body, { initiator: 'x', receiver: 'yz', steps: [] })
  return body
}

/** Where a text is said, if that can be told; what goes to several says only of which app it is. */
function textFor({ stage }: Scene, actor: string | undefined, body: Record<string, unknown>, path: string): string {
  const { own, said } = stage
  const place = placeFor(stage, actor, body, path)
  return place && !('multipleReceivers' in body) ? tellingText(said, place, own.word) : `fox ${own.word}`
}

function placeFor(
  { own }: Stage,
  actor: string | undefined,
  { receiver, receiverType }: Record<string, unknown>,
  path: string,
): Place | undefined {
  const [, id] = /\/messages\/(\d+)/.exec(path) ?? []
  if (id !== undefined) return own.messages.get(id)
  if (typeof receiver !== 'string') return undefined
  const speaker = /\/bots\/([^/]+)\//.exec(path)?.[1] ?? actor ?? 'app_system'
  return receiverType === 'group'
    ? placeOfGroup(receiver.toLowerCase())
    : placeOfUsers(speaker.toLowerCase(), receiver.toLowerCase())
}

/** Fails for an operation whose path has a parameter that nothing is known of. */
export function assertParametersKnown(): void {
  for (const { operation } of all) {
    for (const name of paramsOf(operation)) {
      if (!values[name]) throw new Error(`Say in tests/support/crossing.ts what {${name}} can be.`)
    }
  }
}
