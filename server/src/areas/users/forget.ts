import { type JobDefinition, job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import type { Work } from '../../kit/work.ts'
import { prepared } from '../../storage/tenant.ts'
import { userExists } from './errors.ts'

/** Whose belongings go. */
interface Gone {
  uid: string
  /** Names this user and no later one of the UID. */
  id: string
  /** Where the last batch ended, in the area's own numbers; 0 at first. */
  after: number
}

type ForgetSome = (work: Work, gone: Gone) => Promise<{ after: number } | undefined>

const forgetful = new Map<string, ForgetSome>()

/**
 * Removes what an area keeps of a user who is gone for good, some at a time. `forgetSome` answers where the next batch
 * begins, or nothing once all of it is gone. Nobody else goes by the UID until then.
 */
export function forgetting(area: string, forgetSome: ForgetSome): JobDefinition {
  const name = `${area}.forgetUser`
  forgetful.set(name, forgetSome)
  return job({
    name,
    payload: Type.Object({ uid: Type.String(), id: Type.String(), after: Type.Optional(Type.Integer()) }),
    attemptsMax: Number.POSITIVE_INFINITY,
    bulk: true,
    async run({ uid, id, after = 0 }, work) {
      const further = await forgetSome(work, { uid, id, after })
      return further && { againAt: work.now, payload: { uid, id, ...further } }
    },
  })
}

/** Queues all of it, in the transaction that deletes the user: from here on nothing can be overlooked. */
export async function forgetLater({ db, now }: Work, { uid, id }: Pick<Gone, 'uid' | 'id'>): Promise<void> {
  const payload = JSON.stringify({ uid, id })
  const jobs = [...forgetful.keys()].map((name) => ({ name, lane: 'bulk' as const, key: uid, payload, run_at: now }))
  if (jobs.length > 0) await db.insert('jobs', jobs).execute()
}

const waitingFor = prepared<{ uid: string }, { name: string; payload: string }>((db, { uid }) =>
  db
    .select('jobs')
    .select(['jobs.name', 'jobs.payload'])
    .where('jobs.name', 'in', [...forgetful.keys()])
    .where('jobs.key', '=', uid)
    // A worker that is at one of them is waited for; none can begin with one meanwhile.
    .modifyEnd(db.holdRows),
)

// What is left is little as a rule. A UID with more of it stays taken until the job has done the rest.
const batchesMax = 40

/** Whoever takes a UID finds nothing of who had it before: what is still there goes first. */
export async function finishForgetting(work: Work, uid: string): Promise<void> {
  const { db } = work
  if (forgetful.size === 0) return
  for (const { name, payload } of await waitingFor(db, { uid })) {
    let gone: Gone | undefined = { after: 0, ...JSON.parse(payload) }
    for (let batch = 0; gone && batch < batchesMax; batch += 1) {
      const further: { after: number } | undefined = await forgetful.get(name)?.(work, gone)
      gone = further && { ...gone, ...further }
    }
    if (gone) throw userExists({ uid })
    await db.delete('jobs').where('name', '=', name).where('key', '=', uid).execute()
  }
}
