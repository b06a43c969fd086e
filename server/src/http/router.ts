import findMyWay from 'find-my-way'
import type { Mounted } from '../dispatch/registry.ts'
import type { Area } from '../kit/area.ts'
import type { Operation } from '../kit/operation.ts'
import type { Address } from './address.ts'
import type { Source } from './errors.ts'

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

/** Whether requests lead to it: what only the server's own parts may call is not found, and not told of. */
export function isRouted({ door, doors }: Operation): boolean {
  return door === 'management' || doors.some((caller) => caller !== 'system')
}

const nowhere = { mounted: undefined, params: {}, version: undefined }

export function createRouter(operations: Iterable<Mounted>) {
  const routed = [...operations].filter(({ operation }) => isRouted(operation))
  const byMount = Map.groupBy(routed, ({ area }) => area.mount)
  const tables = {
    v3: tableOf(byMount, 'v3'),
    management: tableOf(byMount, 'management'),
    emulator: tableOf(byMount, 'emulator'),
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

function tableOf(byMount: Map<Area['mount'], Mounted[]>, mount: Area['mount']): Table {
  const table = findMyWay({ ignoreTrailingSlash: true, maxParamLength: paramCharactersMax })
  for (const mounted of byMount.get(mount) ?? []) {
    const { method, path } = mounted.operation
    table.on(method, path.replaceAll(/\{(\w+)\}/g, ':$1'), () => {}, mounted)
  }
  return table
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
