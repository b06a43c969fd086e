import type { Clock } from '../../kit/ports.ts'
import type { Work } from '../../kit/work.ts'
import type { FileRow } from './tables.ts'

/**
 * Whoever writes to the store says so in the file's row first, and until when; whoever removes the file waits for that.
 * A writer that was forgotten, by a crash or because another took its job, can so never leave behind what nobody knows.
 */

const receivingSeconds = 13 * 3600
// More than a store takes from the last byte, or from its failure, until whatever comes of it is there.
const lateSeconds = 3600

export function receivingUntil(now: number): number {
  return now + receivingSeconds
}

/** When the last byte must have come, of a file that begins to come now. */
export function lastByteUntil(now: number): number {
  return receivingUntil(now) - lateSeconds
}

/** Whoever wrote later than they had said might write what was removed meanwhile. */
export class TooLate extends Error {}

/** Content for the store, which takes it to its end before it is there; after this time it has no end. */
export async function* writtenUntil(
  until: number,
  clock: Clock,
  content: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const requireInTime = () => {
    if (clock.now() > until) throw new TooLate('It took too long to write a file.')
  }
  for await (const chunk of content) {
    requireInTime()
    yield chunk
  }
  requireInTime()
}

/** An announced file begins to come; nothing if it has come before, or is gone. */
export async function beginReceiving({ db, now }: Work, key: string): Promise<FileRow | undefined> {
  return db
    .update('files')
    .set({ state: 'receiving', writing_until: receivingUntil(now) })
    .where('key', '=', key)
    .where('state', '=', 'announced')
    .returningAll()
    .executeTakeFirst()
}

/** What of these was coming in comes no more, unless the store has failed and does not know. Answers their keys. */
export async function endReceiving({ db, now }: Work, keys: string[], didStoreFail: boolean): Promise<string[]> {
  if (keys.length === 0) return []
  const ended = await db
    .update('files')
    .set({ writing_until: didStoreFail ? now + lateSeconds : 0 })
    .where('key', 'in', keys)
    .where('state', '=', 'receiving')
    .returning('key')
    .execute()
  return ended.map(({ key }) => key)
}

/** What was coming in may be sent again, unless it is gone. */
export async function announceAgain({ db }: Work, key: string): Promise<void> {
  await db.update('files').set({ state: 'announced' }).where('key', '=', key).where('state', '=', 'receiving').execute()
}

/** The small picture of a file is about to be written; nothing if the file is gone. */
export async function beginPicturing({ db, now }: Work, key: string): Promise<Picturing | undefined> {
  const file = await db
    .select('files')
    .select('files.writing_until')
    .where('files.key', '=', key)
    .where('files.state', '=', 'stored')
    .modifyEnd(db.holdRows)
    .executeTakeFirst()
  if (!file) return undefined
  await db
    .update('files')
    .set({ writing_until: now + 2 * lateSeconds })
    .where('key', '=', key)
    .execute()
  return { until: now + lateSeconds, isAlone: file.writing_until <= now }
}

export interface Picturing {
  /** When it must have been handed to the store. */
  until: number
  /** No other worker may still be at it. */
  isAlone: boolean
}

/** The small picture is there. While another worker may be at it too, the file is left as being written. */
export async function endPicturing(
  { db }: Work,
  key: string,
  { width, height, isAlone }: { width: number; height: number; isAlone: boolean },
): Promise<void> {
  await db
    .update('files')
    .set({ width, height, has_thumbnail: 1, ...(isAlone && { writing_until: 0 }) })
    .where('key', '=', key)
    .execute()
}
