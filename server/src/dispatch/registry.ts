import type { Validator } from 'typebox/compile'
import type { Area } from '../kit/area.ts'
import type { Operation } from '../kit/operation.ts'
import { bodyChecker, compiled } from './body-check.ts'
import { type EventsByName, eventsByName } from './events-by-name.ts'
import { type BodyReader, bodyReader } from './leniency.ts'
import { type QueryReader, queryReader } from './query.ts'

/** An operation of an area, with its checks ready. */
export interface Mounted {
  operation: Operation
  area: Area
  readQuery: QueryReader
  readLeniently: BodyReader
  checkBody: (body: Record<string, unknown>) => Promise<void>
  /** Throws when a reply is not what the operation declares; used by tests. */
  checkReply: (reply: unknown) => Promise<void>
}

/** All that can be asked for, and all that can happen, by name. */
export interface Registry {
  operations: ReadonlyMap<string, Mounted>
  events: EventsByName
}

export function registryOf(areas: Area[]): Registry {
  const operations = areas.flatMap((area) => area.operations.map((operation) => mounted(area, operation)))
  return {
    operations: byId(operations),
    events: eventsByName(areas),
  }
}

function byId(all: Mounted[]): Map<string, Mounted> {
  const known = new Map<string, Mounted>()
  for (const each of all) {
    const { id } = each.operation
    if (known.has(id)) throw new Error(`Two areas bring ${id}, or one brings it twice.`)
    known.set(id, each)
  }
  return known
}

function mounted(area: Area, operation: Operation): Mounted {
  return {
    operation,
    area,
    readQuery: queryReader(operation.query, { strictBooleans: area.host === 'call' }),
    readLeniently: bodyReader(operation),
    checkBody: operation.hasBody ? bodyChecker(operation.body) : async () => {},
    checkReply: replyChecker(operation),
  }
}

function replyChecker({ id, reply }: Operation): Mounted['checkReply'] {
  let validator: Validator | undefined
  return async (value) => {
    validator ??= await compiled(closed(reply) as never)
    if (validator.Check(value)) return
    throw new Error(
      `The reply of ${id} is not what it declares: ${JSON.stringify([...validator.Errors(value)].slice(0, 3))}`,
    )
  }
}

/** The schema with every object closed: strict clients break on a property they do not know. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]))
  return 'properties' in copy ? { ...copy, additionalProperties: false } : copy
}
