import type { JobLane } from './tables.ts'

/** Stands between the name of a job, which has none, and what its destination is called. */
export const destinationMark = '/'
// It is part of the key of an index.
const charactersMax = 255

/**
 * Where a job waits in its lane. Outside, jobs of one kind to one destination wait for each other; a kind that names none
 * has one. No two kinds share one, whatever their destinations are called.
 */
export function destinationOf(lane: JobLane, jobName: string, called = ''): string {
  if (called.length > charactersMax) throw new Error(`The destination of ${jobName} is too long.`)
  if (lane === 'outside') return `${jobName}${destinationMark}${called}`
  if (called !== '') throw new Error(`${jobName} has nothing to do outside, and so no destination.`)
  return ''
}

/** Which kind of job waits there. */
export function jobNameIn(destination: string): string {
  return destination.slice(0, Math.max(0, destination.indexOf(destinationMark)))
}
