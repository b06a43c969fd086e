import type { Presence, PresenceChange } from '../../kit/ports.ts'

/** Those who are told of changes. */
export function presenceHearers(): Pick<Presence, 'onChange'> & { tell(change: PresenceChange): void } {
  const hearers = new Set<(change: PresenceChange) => void>()
  return {
    tell(change) {
      for (const hear of hearers) hear(change)
    },
    onChange(hear) {
      hearers.add(hear)
      return () => void hearers.delete(hear)
    },
  }
}
