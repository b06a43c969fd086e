import { allFailed, eachItem, type ItemOutcome } from '../../common/each.ts'
import { badRequest } from '../../kit/errors.ts'
import type { PermissionRecord } from './schemas.ts'

/** What permissions are made of; roles and the scopes of a group's members each have a catalogue of their own. */

export type PermissionValue = string | string[]

export interface Kind<Value extends PermissionValue = PermissionValue> {
  dataType: PermissionRecord['dataType']
  /** Absent where any role, or any text, is allowed. */
  availableValues?: readonly string[]
  defaultValue: Value
  /** What holds while nothing is set, where that is not the default that is published. */
  unset?: Value
}

export interface Permission<Value extends PermissionValue = PermissionValue> {
  kind: Kind<Value>
  title: string
  description: string
  /** No longer published; whoever has set it is still held to it. */
  older?: true
}

export function permission<Value extends PermissionValue>(
  kind: Kind<Value>,
  title: string,
  description: string,
  more: Pick<Permission, 'older'> = {},
): Permission<Value> {
  return { kind, title, description, ...more }
}

export type Catalogue = Record<string, Permission>

/** The values in force, by permission id. */
export type ValuesOf<Entries extends Catalogue> = {
  [Id in keyof Entries]: Entries[Id] extends Permission<infer Value> ? Value : never
}

export const allowOrDeny: Kind<'allow' | 'deny'> = {
  dataType: 'string',
  availableValues: ['allow', 'deny'],
  defaultValue: 'allow',
}

export const allOrFriends: Kind<'all' | 'friends'> = {
  dataType: 'string',
  availableValues: ['all', 'friends'],
  defaultValue: 'all',
}

export const someOf = (words: readonly string[]): Kind<string[]> => ({
  dataType: 'stringArray',
  availableValues: words,
  defaultValue: [],
})

export const someRoles: Kind<string[]> = { dataType: 'rolesStringArray', defaultValue: [] }
export const anyWords: Kind<string[]> = { dataType: 'customStringArray', defaultValue: [] }

/** Stands in a list of roles that is not empty and yet matches nobody: all the roles it named are deleted. */
export const noRole = '!none'

/** An empty list restricts nothing. */
export function isIn(list: readonly string[], value: string): boolean {
  return list.length === 0 || list.includes(value)
}

export function permissionOf(catalogue: Catalogue, id: string): Permission | undefined {
  return Object.hasOwn(catalogue, id) ? catalogue[id] : undefined
}

/** What was set, and for the rest what holds while nothing is. */
export function valuesInForce<Entries extends Catalogue>(
  catalogue: Entries,
  given: Map<string, PermissionValue>,
): ValuesOf<Entries> {
  const defaults = defaultsOf(catalogue)
  if (given.size === 0) return defaults as ValuesOf<Entries>
  const set = [...given].filter(([id]) => Object.hasOwn(defaults, id))
  return { ...defaults, ...Object.fromEntries(set) } as ValuesOf<Entries>
}

type Values = Readonly<Record<string, PermissionValue>>

const defaultsOfCatalogues = new WeakMap<Catalogue, Values>()

/** Every call of a user asks for them, and most roles have set nothing. */
function defaultsOf(catalogue: Catalogue): Values {
  const known = defaultsOfCatalogues.get(catalogue)
  if (known) return known
  const defaults = Object.freeze(
    Object.fromEntries(Object.entries(catalogue).map(([id, { kind }]) => [id, kind.unset ?? kind.defaultValue])),
  )
  defaultsOfCatalogues.set(catalogue, defaults)
  return defaults
}

/** The value in the form it is kept in; a list may be sent as its only word, and no list as `null`. */
export function acceptedValue(catalogue: Catalogue, id: string, sent: unknown): PermissionValue {
  const kind = permissionOf(catalogue, id)?.kind
  if (!kind) throw badRequest({ [id]: ['is no permission'] })
  if (kind.dataType === 'string') return acceptedWord(kind, id, sent)
  const items = sent === null ? [] : Array.isArray(sent) ? sent : [sent]
  return [...new Set(items.map((item) => acceptedWord(kind, id, item)))]
}

function acceptedWord({ availableValues }: Kind, id: string, word: unknown): string {
  if (typeof word !== 'string' || word.trim() === '') throw badRequest({ [id]: ['must be text, and not blank'] })
  if (availableValues && !availableValues.includes(word)) {
    throw badRequest({ [id]: [`must be one of ${availableValues.join(', ')}`] })
  }
  return word
}

/** Takes what can be taken of the values sent; if that is nothing, the whole call is refused. */
export async function acceptedValues(
  sent: Record<string, unknown>,
  whose: string,
  accept: (id: string, value: unknown) => PermissionValue,
): Promise<{ outcomes: Record<string, ItemOutcome>; accepted: Map<string, PermissionValue> }> {
  const accepted = new Map<string, PermissionValue>()
  const outcomes = await eachItem(Object.keys(sent), (id) => {
    accepted.set(id, accept(id, sent[id]))
    return `${id} is set for ${whose}.`
  })
  if (allFailed(outcomes)) throw badRequest({ permissions: Object.entries(outcomes).map(problemOf) })
  return { outcomes, accepted }
}

function problemOf([id, outcome]: [string, ItemOutcome]): string {
  if (outcome.success) return ''
  const reasons = Object.values(outcome.error.details ?? {}).flat()
  return `${id}: ${reasons.length > 0 ? reasons.join(', ') : outcome.error.message}`
}

export function requirePermission(catalogue: Catalogue, id: string): void {
  if (!permissionOf(catalogue, id)) throw badRequest({ permission: ['is no permission'] })
}

/** When the catalogues were written, and when they were last changed. */
const cataloguedAt = 1_793_491_200
const describedAt = 1_794_787_200

/** The whole catalogue as it is listed, with the values in force. */
export function toRecords(
  catalogue: Catalogue,
  type: PermissionRecord['type'],
  values: Record<string, PermissionValue>,
): PermissionRecord[] {
  return Object.entries(catalogue).map(([id, { kind, title, description }]) => ({
    id,
    type,
    title,
    description,
    dataType: kind.dataType,
    ...(kind.availableValues && { availableValues: [...kind.availableValues] }),
    defaultValue: kind.defaultValue,
    value: values[id] ?? kind.defaultValue,
    createdAt: cataloguedAt,
    updatedAt: describedAt,
  }))
}
