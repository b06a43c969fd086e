import { area } from '../../server/src/kit/area.ts'
import { defineEvent } from '../../server/src/kit/event.ts'
import { follower } from '../../server/src/kit/follower.ts'
import { job } from '../../server/src/kit/job.ts'
import { Type } from '../../server/src/kit/schema.ts'
import type { Database } from '../../server/src/storage/database.ts'
import { tenantDb } from '../../server/src/storage/tenant.ts'

/** An area that counts work: an event is followed, a job follows from it, and each leaves an event with its number. */
export function countingArea() {
  const payload = Type.Object({ n: Type.Integer() })
  const eventNamed = (name: string) => defineEvent({ name, payload, audience: () => [] })
  const [ticked, followed, worked] = [eventNamed('test.ticked'), eventNamed('test.followed'), eventNamed('test.worked')]
  const work = job({
    name: 'test.work',
    payload,
    attemptsMax: 5,
    async run({ n }, { emit }) {
      await emit(worked, { n })
      return undefined
    },
  })
  const follow = follower({
    name: 'test.follow',
    on: [ticked],
    async handle({ payload: { n } }, { emit, later }) {
      await emit(followed, { n })
      await later(work, { n }, { key: String(n) })
    },
  })
  const counting = area({
    name: 'test',
    about: 'Counts work.',
    events: [ticked, followed, worked],
    followers: [follow],
    jobs: [work],
  })
  return { area: counting, ticked, followed, worked }
}

/** The numbers in all events of a name, from the smallest on. */
export async function numbersIn(database: Database, appId: string, { name }: { name: string }): Promise<number[]> {
  const events = tenantDb(database.reader, appId).select('events').select('events.payload')
  const rows = await events.where('events.name', '=', name).execute()
  return rows.map(({ payload }) => JSON.parse(payload).n as number).toSorted((a, b) => a - b)
}
