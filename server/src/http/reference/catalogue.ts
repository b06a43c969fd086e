import type { Shape } from '../../dispatch/shape.ts'
import type { Area } from '../../kit/area.ts'
import { channelKey } from '../../kit/channel.ts'
import type { EventDefinition } from '../../kit/event.ts'
import type { Operation } from '../../kit/operation.ts'
import { documentedAreas, errorsOf } from '../openapi.ts'
import { fieldsOf, type ReferenceField } from './fields.ts'
import { sampleOf } from './sample.ts'

/** A failure and the operations that can answer it. */
export interface CataloguedError {
  code: string
  status: number
  when: string
  operations: Operation[]
  /** All operations that share it, where they need no list: every one, or every one at a door. */
  reach: 'all' | 'all with an API key' | 'all of management' | undefined
}

/** Every failure the API can answer, by code and status. */
export function errorCatalogue(areas: Area[]): CataloguedError[] {
  const known = new Map<string, CataloguedError>()
  const all = documentedAreas(areas).flatMap((area) => area.operations)
  for (const operation of all) {
    for (const { code, status, when } of errorsOf(operation)) {
      const name = `${code} ${status}`
      const entry = known.get(name) ?? { code, status, when, operations: [], reach: undefined }
      if (!entry.operations.includes(operation)) entry.operations.push(operation)
      known.set(name, entry)
    }
  }
  for (const entry of known.values()) entry.reach = reachOf(entry.operations, all)
  return [...known.values()].toSorted((a, b) => compare(a.code, b.code) || a.status - b.status)
}

function reachOf(operations: Operation[], all: Operation[]): CataloguedError['reach'] {
  const atDoor = (door: Operation['door']) => all.filter((each) => each.door === door)
  const covers = (others: Operation[]) =>
    operations.length === others.length && others.every((each) => operations.includes(each))
  if (covers(all)) return 'all'
  if (covers(atDoor('server'))) return 'all with an API key'
  return covers(atDoor('management')) ? 'all of management' : undefined
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

export interface CataloguedEvent {
  name: string
  area: Area
  fields: ReferenceField[]
  sample: unknown
  /** Kinds of channel whose listeners see it live; none for an event that stays inside the server. */
  audience: string[]
  /** What webhooks are told. */
  triggers: string[]
}

/** Everything that can happen, in the order of the areas. */
export function eventCatalogue(areas: Area[]): CataloguedEvent[] {
  return areas.flatMap((area) =>
    area.events.map((event) => ({
      name: event.name,
      area,
      fields: fieldsOf(event.payload as Shape),
      sample: sampleOf(event.payload as Shape),
      audience: channelsOf(event),
      triggers: [event.webhook, event.webhookForEach].flatMap((told) => (told ? [told.trigger] : [])),
    })),
  )
}

/** The channels a sample of the event goes to, with the id left open: `user:nora` is told as `user:*`. */
function channelsOf({ payload, audience }: EventDefinition): string[] {
  const channels = audience(sampleOf(payload as Shape) as never)
  return [...new Set(channels.map(({ kind, id }) => channelKey({ kind, id: id === '' ? '' : '*' })))]
}
