import type { JobDefinition } from '../kit/job.ts'
import { jobNameIn } from '../storage/destination.ts'

/** Where an attempt takes its place. */
export interface Way {
  appId: string
  destination: string
}

/** Who may be outside at once, on this node. */
export interface OutsidePlaces {
  /** Takes a place, if there is one. */
  take(way: Way): boolean
  leave(way: Way): void
}

const placesMax = 256
const ofAppMax = 64
const ofDestinationMax = 4
// Only for apps that have none: whatever others wait for, whoever comes new finds a place.
const keptForNewcomers = 64

/**
 * An attempt takes a place among all, among those of its app, those of its kind and those to its destination. Whoever does
 * not answer keeps the few of one destination, and nobody else waits for them.
 */
export function createOutsidePlaces(definitions: ReadonlyMap<string, JobDefinition>): OutsidePlaces {
  const taken = new Map<string, number>()
  const count = (key: string) => taken.get(key) ?? 0

  function limitsFor({ appId, destination }: Way): [key: string, max: number][] {
    const name = jobNameIn(destination)
    const { inAll = placesMax, perDestination = ofDestinationMax } = definitions.get(name)?.atOnce ?? {}
    const app = JSON.stringify([appId])
    return [
      ['', count(app) === 0 ? placesMax : placesMax - keptForNewcomers],
      [app, ofAppMax],
      [`kind ${name}`, inAll],
      [JSON.stringify([appId, destination]), perDestination],
    ]
  }

  return {
    take(way) {
      const limits = limitsFor(way)
      if (limits.some(([key, max]) => count(key) >= max)) return false
      for (const [key] of limits) taken.set(key, count(key) + 1)
      return true
    },
    leave(way) {
      for (const [key] of limitsFor(way)) {
        if (count(key) > 1) taken.set(key, count(key) - 1)
        else taken.delete(key)
      }
    },
  }
}
