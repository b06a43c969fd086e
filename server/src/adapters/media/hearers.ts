import type { MediaEngine, MediaEvent } from '../../common/media.ts'

// An engine tells a few events for each device that comes and goes, and whoever hears them comes soon after it is opened.
const keptMax = 10_000

/** Those who are told of events; what happens before the first of them is there is kept. */
export function mediaHearers(onTrouble: (error: unknown) => void): Pick<MediaEngine, 'hear'> & {
  tell(event: MediaEvent): void
} {
  const hearers = new Set<(event: MediaEvent) => void>()
  let kept: MediaEvent[] = []

  function tellTo(hear: (event: MediaEvent) => void, event: MediaEvent): void {
    try {
      hear(event)
    } catch (error) {
      onTrouble(error)
    }
  }

  return {
    tell(event) {
      if (hearers.size === 0 && kept.length < keptMax) kept.push(event)
      for (const hear of hearers) tellTo(hear, event)
    },
    hear(listener) {
      hearers.add(listener)
      const missed = kept
      kept = []
      for (const event of missed) tellTo(listener, event)
      return () => void hearers.delete(listener)
    },
  }
}
