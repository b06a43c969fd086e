import { createHash } from 'node:crypto'
import { repliesToUser } from '../areas/users/index.ts'
import { badRequest } from '../kit/errors.ts'
import type { Caller } from '../kit/operation.ts'
import type { Secrets } from '../kit/ports.ts'
import type { ReadyMade } from '../plain/ready-made.ts'
import type { TenantDb } from '../storage/tenant.ts'

const keyCharactersMax = 255

/** How long the reply to a write is kept for a request that is sent again. */
export const replyKeptSeconds = 24 * 3600

/** A write that may be sent again without happening again. */
export interface Attempt {
  /** Whose key it is: nobody meets the keys of another kind of caller, nor a user those of another. */
  caller: string
  key: string
  fingerprint: string
}

/** The attempt that an ask under a key is; `asked` is all that tells it from others. */
export function attemptOf(key: string, caller: Caller, ...asked: string[]): Attempt {
  if (key.length > keyCharactersMax) {
    throw badRequest({ 'Idempotency-Key': [`must not be longer than ${keyCharactersMax} characters`] })
  }
  const fingerprint = createHash('sha256').update(JSON.stringify(asked)).digest('base64url')
  return { caller: nameOf(caller), key, fingerprint }
}

/**
 * Servers share their keys, whichever API key they come with: one may be replaced between a try and its repeat. Those with
 * the narrow scope are apart, since such a key is often handed out with a client. Management accounts are apart already,
 * and the server's own parts know nothing of each other.
 */
function nameOf(caller: Caller): string {
  switch (caller.kind) {
    case 'server':
      return `server ${caller.scope}`
    case 'client':
      return repliesToUser(caller.uid)
    case 'management':
      return 'management'
    case 'system':
      return `system ${caller.part}`
  }
}

/**
 * Runs `work` once per key. What is kept of the reply is stored in the transaction of the change: a repeated request
 * finds either both or neither. Of two at the same time, the second waits for the first one's row.
 */
export async function once(
  db: TenantDb,
  secrets: Secrets,
  now: number,
  attempt: Attempt | undefined,
  work: () => Promise<Pick<ReadyMade, 'text' | 'kept'>>,
): Promise<string> {
  if (!attempt) return (await work()).text
  const earlier = await claim(db, attempt, now)
  if (earlier !== undefined) return secrets.open(earlier)
  const { text, kept } = await work()
  await db
    .update('idempotent_replies')
    .set({ reply: secrets.seal(kept) })
    .where('caller', '=', attempt.caller)
    .where('key', '=', attempt.key)
    .execute()
  return text
}

/** Takes the key, or answers the reply that is stored under it. */
async function claim(db: TenantDb, attempt: Attempt, now: number): Promise<string | undefined> {
  const earlier = await keptReply(db, attempt, now)
  if (earlier !== undefined) return earlier
  const { caller, key, fingerprint } = attempt
  const taken = await db
    .insert('idempotent_replies', { caller, key, fingerprint, reply: null, created_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['app_id', 'caller', 'key'])
        .doUpdateSet({ fingerprint, reply: null, created_at: now })
        .where('idempotent_replies.created_at', '<=', now - replyKeptSeconds),
    )
    .returning('key')
    .executeTakeFirst()
  return taken ? undefined : keptReply(db, attempt, now)
}

/** Rows that were kept before callers were told apart. Whose they are shows in the fingerprint alone. */
const anyCaller = ''

/** The sealed reply under a key, if there is one; refuses the key if it was used for another request. */
export async function keptReply(
  db: TenantDb,
  { caller, key, fingerprint }: Attempt,
  now: number,
): Promise<string | undefined> {
  const rows = await db
    .select('idempotent_replies')
    .select(['idempotent_replies.caller', 'idempotent_replies.fingerprint', 'idempotent_replies.reply'])
    .where('idempotent_replies.caller', 'in', [caller, anyCaller])
    .where('idempotent_replies.key', '=', key)
    .where('idempotent_replies.created_at', '>', now - replyKeptSeconds)
    .execute()
  const same = rows.find((row) => row.fingerprint === fingerprint)
  if (!same && rows.some((row) => row.caller === caller)) {
    throw badRequest({ 'Idempotency-Key': ['was used for another request before'] })
  }
  return same?.reply ?? undefined
}
