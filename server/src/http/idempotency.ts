import { createHash } from 'node:crypto'
import { badRequest } from '../kit/errors.ts'
import type { Secrets } from '../kit/ports.ts'
import { replyKeptSeconds } from '../kit/retention.ts'
import type { TenantDb } from '../storage/tenant.ts'

const keyCharactersMax = 255

/** A write that may be sent again without happening again. */
export interface Attempt {
  key: string
  fingerprint: string
}

/** The attempt a request is, if it carries an `Idempotency-Key`. */
export function attemptOf(key: string | undefined, ...request: string[]): Attempt | undefined {
  if (key === undefined) return undefined
  if (key.length > keyCharactersMax) {
    throw badRequest({ 'Idempotency-Key': [`must not be longer than ${keyCharactersMax} characters`] })
  }
  return { key, fingerprint: createHash('sha256').update(JSON.stringify(request)).digest('base64url') }
}

/**
 * Runs `work` once per key. The reply is stored in the transaction of the change: a repeated request finds either both or
 * neither. Of two at the same time, the second waits for the first one's row.
 */
export async function once(
  db: TenantDb,
  secrets: Secrets,
  now: number,
  attempt: Attempt | undefined,
  work: () => Promise<string>,
): Promise<string> {
  if (!attempt) return work()
  const earlier = await claim(db, attempt, now)
  if (earlier !== undefined) return secrets.open(earlier)
  const reply = await work()
  await db
    .update('idempotent_replies')
    .set({ reply: secrets.seal(reply) })
    .where('key', '=', attempt.key)
    .execute()
  return reply
}

/** Takes the key, or answers the reply that is stored under it. */
async function claim(db: TenantDb, { key, fingerprint }: Attempt, now: number): Promise<string | undefined> {
  await db
    .delete('idempotent_replies')
    .where('key', '=', key)
    .where('created_at', '<=', now - replyKeptSeconds)
    .execute()
  const taken = await db
    .insert('idempotent_replies', { key, fingerprint, reply: null, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .returning('key')
    .executeTakeFirst()
  if (taken) return undefined
  const earlier = await db
    .select('idempotent_replies')
    .select(['idempotent_replies.fingerprint', 'idempotent_replies.reply'])
    .where('idempotent_replies.key', '=', key)
    .executeTakeFirstOrThrow()
  if (earlier.fingerprint !== fingerprint) {
    throw badRequest({ 'Idempotency-Key': ['was used for another request before'] })
  }
  return earlier.reply ?? undefined
}
