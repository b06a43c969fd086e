import type { Limits } from '../../kit/limits.ts'
import type { Caller } from '../../kit/operation.ts'
import type { Work } from '../../kit/work.ts'
import { passwordWrong } from '../groups/errors.ts'
import { countPassword, type GroupRow, type Match, matchPassword } from '../groups/index.ts'
import { guessAtGroupRate, guessRate } from './rates.ts'

/** What a guess needs; it comes before the transaction. */
export type Guessing = Pick<Work, 'db' | 'tools'> & { caller: Caller; limits: Limits }

/**
 * One try at a group's password. It is counted before it is compared, for the user and for the group, and given back if it
 * was no guess after all. However many strangers guess, whoever knows the password comes in: everyone's first try in the
 * hour is compared, also where the group has had too many.
 */
export async function guess(call: Guessing, group: GroupRow, uid: string, password: string): Promise<Match> {
  await countPassword(call)
  const giveBack = await countGuess(call, group, uid)
  let match: Match | undefined
  try {
    match = await matchPassword(call, password, group.password ?? '')
  } catch (error) {
    await giveBack()
    throw error
  }
  if (!match) throw passwordWrong({ guid: group.guid })
  await giveBack()
  return match
}

async function countGuess({ db, limits }: Guessing, group: GroupRow, uid: string): Promise<() => Promise<void>> {
  const own = await limits.take(guessRate, [db.appId, group.id, uid], 1)
  if (own.granted === 0) throw own.refusal()
  const ofAll = await limits.take(guessAtGroupRate, [db.appId, group.id], 1)
  if (ofAll.granted === 0 && own.earlier > 0) {
    await own.giveBack(1)
    throw ofAll.refusal()
  }
  return async () => {
    await own.giveBack(own.granted)
    await ofAll.giveBack(ofAll.granted)
  }
}
