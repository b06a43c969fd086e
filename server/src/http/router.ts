import findMyWay from 'find-my-way'
import type { Validator } from 'typebox/compile'
import type { Area } from '../kit/area.ts'
import type { Operation } from '../kit/operation.ts'
import type { Address } from './address.ts'
import { bodyChecker, compiled } from './body.ts'
import type { Source } from './errors.ts'
import { type BodyReader, bodyReader } from './leniency.ts'
import { type QueryReader, queryReader } from './query.ts'

/** An operation at its place, with its checks ready. */
export interface Mounted {
  operation: Operation
  area: Area
  readQuery: QueryReader
  readLeniently: BodyReader
  checkBody: (body: Record<string, unknown>) => Promise<void>
  /** Throws when a reply is not what the operation declares; used by tests. */
  checkReply: (reply: unknown) => Promise<void>
}

/** What a path leads to. `version` is set when it names one that does not exist. */
export interface Found {
  door: 'server' | 'management'
  mounted: Mounted | undefined
  params: Record<string, string>
  version: string | undefined
  source: Source
}

const currentVersion = /^\/v3(?:\.0)?(?=\/|$)/
const anyVersion = /^\/(v\d[^/]*)(?=\/|$)/
const managementPrefix = /^\/mgmt(?=\/|$)/
const emulatorPrefix = /^\/_emulator(?=\/|$)/
const paramCharactersMax = 4_096

const nowhere = { mounted: undefined, params: {}, version: undefined }

export function createRouter(areas: Area[]) {
  const tables = {
    v3: tableOf(areas, 'v3'),
    management: tableOf(areas, 'management'),
    emulator: tableOf(areas, 'emulator'),
  }

  function inManagement(method: string, path: string): Found {
    const inside = path.replace(managementPrefix, '')
    const match = lookUp(tables.management, method, inside.replace(currentVersion, '') || '/')
    const version = currentVersion.test(inside) ? undefined : anyVersion.exec(inside)?.[1]
    return { door: 'management', version, source: 'mgmt-api', ...match }
  }

  return function route(method: string, path: string, address: Address): Found {
    if (address.kind === 'management' || managementPrefix.test(path)) return inManagement(method, path)
    const source = address.host === 'call' ? 'calls-api' : 'chat-api'
    const current = currentVersion.exec(path)
    if (current) {
      const match = lookUp(tables.v3, method, path.slice(current[0].length) || '/')
      return {
        door: 'server',
        version: undefined,
        source: match.mounted?.area.host === 'call' ? 'calls-api' : source,
        ...match,
      }
    }
    if (emulatorPrefix.test(path)) {
      return {
        door: 'server',
        version: undefined,
        source,
        ...lookUp(tables.emulator, method, path.replace(emulatorPrefix, '') || '/'),
      }
    }
    return { door: 'server', source, ...nowhere, version: anyVersion.exec(path)?.[1] }
  }
}

type Table = findMyWay.Instance<findMyWay.HTTPVersion.V1>

function tableOf(areas: Area[], mount: Area['mount']): Table {
  const table = findMyWay({ ignoreTrailingSlash: true, maxParamLength: paramCharactersMax })
  for (const area of areas.filter((each) => each.mount === mount)) {
    for (const operation of area.operations) {
      table.on(operation.method, operation.path.replaceAll(/\{(\w+)\}/g, ':$1'), () => {}, mounted(area, operation))
    }
  }
  return table
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

function lookUp(
  table: Table,
  method: string,
  path: string,
): { mounted: Mounted | undefined; params: Record<string, string> } {
  const match = table.find(method as findMyWay.HTTPMethod, path)
  if (!match) return { mounted: undefined, params: {} }
  return { mounted: match.store as Mounted, params: match.params as Record<string, string> }
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
