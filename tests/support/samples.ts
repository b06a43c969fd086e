import { existsSync } from 'node:fs'
import { Compile } from 'typebox/compile'
import { areas } from '../../server/src/areas/index.ts'
import type { Area } from '../../server/src/kit/area.ts'
import type { Operation } from '../../server/src/kit/operation.ts'
import type { TSchema } from '../../server/src/kit/schema.ts'
import { type Made, type Samples, type Stage, unused } from './sample.ts'

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

/** A value that fits a schema; text is another one each time, so that unique names stay unique. */
function valueFor(schema: TSchema, name: string): unknown {
  const { type, enum: words, anyOf, minimum = 1, examples } = schema as Described
  if (words) return words[0]
  if (anyOf) return anyOf[0]?.const
  const byType: Record<string, unknown> = {
    string: unused(name),
    integer: Math.max(1, minimum),
    number: Math.max(1, minimum),
    boolean: false,
    array: examples?.[0] ?? [],
    object: examples?.[0] ?? {},
  }
  return byType[type ?? '']
}

const samples: Samples[] = []
// In the order of the list, so that whatever a record needs is made before it.
for (const { name } of areas) {
  const file = new URL(`../../server/src/areas/${name}/samples.ts`, import.meta.url)
  if (existsSync(file)) samples.push((await import(file.href)).samples)
}

const bodies = Object.assign({}, ...samples.map((each) => each.bodies)) as NonNullable<Samples['bodies']>
const makers = Object.assign({}, ...samples.map((each) => each.records)) as NonNullable<Samples['records']>
const arrangements = Object.assign({}, ...samples.map((each) => each.arrangements)) as NonNullable<
  Samples['arrangements']
>

/** Why an event changes nothing of what clients keep, as its area says. */
export const unkept = Object.assign({}, ...samples.map((each) => each.unkept)) as NonNullable<Samples['unkept']>

/** Bodies to try in turn: what is required, then with one optional property more. */
export function plausibleBodies({ id, body }: Operation): (() => Record<string, unknown>)[] {
  const naming = bodies[id]
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

export function paramsOf({ path }: Operation): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
}

/** The path with a new record for each of its parameters. */
export async function pathWithRecords(operation: Operation, path: string, stage: Stage): Promise<string> {
  return filledPath(path, await recordsFor(operation, stage))
}

/** A new record for each parameter of its path, and what else it needs to succeed. */
export async function recordsFor(operation: Operation, stage: Stage): Promise<Made> {
  const made = await makeRecords(paramsOf(operation), stage)
  await arrangements[operation.id]?.(stage, made)
  return made
}

/** With whose token a path is for a client: that of the user whom it names, unless it is about what is said to them. */
export function clientOfPath(path: string): string {
  const [, owner] = /\/users\/(?!online-count)([^/]+)(?!.*\/(?:conversation|messages))/.exec(path) ?? []
  return owner ?? 'client'
}

/** A new record for every parameter that a path can have. */
export function recordsOfEveryKind(stage: Stage): Promise<Made> {
  return makeRecords(Object.keys(makers), stage)
}

async function makeRecords(names: string[], stage: Stage): Promise<Made> {
  const made: Made = {}
  for (const name of names) {
    const make = makers[name]
    if (!make) throw new Error(`Say in the samples.ts of its area how a record for {${name}} is made.`)
    made[name] = await make(stage, made)
  }
  return made
}

export function filledPath(path: string, records: Made): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => records[name] ?? '')
}
