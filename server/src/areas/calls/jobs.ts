import { job } from '../../kit/job.ts'
import { Type } from '../../kit/schema.ts'
import { happen, ledgerOf, signsOf } from './ledger.ts'
import { nextDeadline, overdue } from './rules.ts'
import { fold } from './state.ts'

/**
 * One such job lives as long as its call. It is queued in the transaction that begins the call, so there is no moment at
 * which a crash could leave a call that nobody watches.
 */
export const superviseCall = job({
  name: 'calls.supervise',
  payload: Type.Object({ sessionId: Type.String() }),
  attemptsMax: Number.POSITIVE_INFINITY,
  async run({ sessionId }, work) {
    const signs = await signsOf(work.db, sessionId)
    let state = fold(await ledgerOf(work.db, sessionId))
    for (let due = overdue(state, signs, work.now, work.tools.timings); due; ) {
      state = await happen(work, sessionId, due)
      due = overdue(state, signs, work.now, work.tools.timings)
    }
    const deadline = nextDeadline(state, signs, work.tools.timings)
    return deadline === undefined ? undefined : { againAt: deadline }
  },
})
