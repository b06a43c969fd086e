import type { Area } from '../kit/area.ts'
import type { Tools } from '../kit/ports.ts'
import { replyKeptSeconds } from '../kit/retention.ts'
import type { Database } from '../storage/database.ts'

const secondsPerDay = 24 * 3600

/** Throws away what nobody needs any more: events that every follower has read, and replies kept for repeated requests. */
export function createHousekeeping(database: Database, areas: Area[], tools: () => Tools, retentionDays: number) {
  const names = areas.flatMap((area) => area.followers).map(({ name }) => name)

  return async function clean(): Promise<void> {
    const now = tools().clock.now()
    await database.write(async ({ query }) => {
      await query
        .deleteFrom('idempotent_replies')
        .where('created_at', '<=', now - replyKeptSeconds)
        .execute()
      const slowest = await query
        .selectFrom('followers')
        .select(['tx', 'id'])
        .where('name', 'in', names)
        .orderBy('tx')
        .orderBy('id')
        .execute()
      const position = slowest[0]
      if (slowest.length < names.length || !position) return
      await query
        .deleteFrom('events')
        .where('at', '<', now - retentionDays * secondsPerDay)
        .where((is) =>
          is.or([is('tx', '<', position.tx), is.and([is('tx', '=', position.tx), is('id', '<=', position.id)])]),
        )
        .execute()
    })
  }
}
