import type { Validator } from 'typebox/compile'
import type { Area } from '../kit/area.ts'
import type { EventDefinition } from '../kit/event.ts'
import type { Operation } from '../kit/operation.ts'
import { bodyChecker, compiled } from './body-check.ts'
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
  events: ReadonlyMap<string, EventDefinition>
}

export function registryOf(areas: Area[]): Registry {
  const operations = areas.flatMap((area) => area.operations.map((operation) => mounted(area, operation)))
  return {
    operations: byName(operations, ({ operation }) => operation.id),
    events: byName(
      areas.flatMap(({ events }) => events),
      ({ name }) => name,
    ),
  }
}

function byName<Each>(all: Each[], nameOf: (each: Each) => string): Map<string, Each> {
  const known = new Map<string, Each>()
  for (const each of all) {
    const name = nameOf(each)
    if (known.has(name)) throw new Error(`Two areas bring ${name}, or one brings it twice.`)
    known.set(name, each)
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
