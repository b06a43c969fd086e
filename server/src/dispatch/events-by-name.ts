import type { Area } from '../kit/area.ts'
import type { EventDefinition } from '../kit/event.ts'

/** The register of events: what the names in the log mean. */
export type EventsByName = ReadonlyMap<string, EventDefinition>

export function eventsByName(areas: Pick<Area, 'events'>[]): EventsByName {
  const register = new Map<string, EventDefinition>()
  for (const event of areas.flatMap((area) => area.events)) {
    if (register.has(event.name)) throw new Error(`Two events are called ${event.name}.`)
    register.set(event.name, event)
  }
  return register
}
