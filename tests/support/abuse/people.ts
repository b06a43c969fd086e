import { busyUser, groupOf, partnerAt } from '../../../bench/load-messages.ts'
import { crowd, host } from '../../../bench/load-worst.ts'

/** Who and what there is on the stage, by name. */

export { busyUser, crowd, host }

export const usersCount = 100_000
export const messagesCount = 100_000
export const groupsCount = 5_000
export const crowdSize = 15_000
export const guestsCount = 500

/** The group with the famous message. */
export const club = groupOf(1_000)
/** A group with a password, and one as large as the crowd that is going to be deleted. */
export const locked = 'locked'
export const password = 'p'.repeat(100)
export const doomed = 'doomed'

/** Limits are for each user, so those who abuse are many. */
const abusersCount = 400
export const abuserAt = (n: number) => `abuser-${n % abusersCount}`
export const abusers = Array.from({ length: abusersCount }, (_, n) => abuserAt(n))

/** Some with whom `busyUser` has a conversation. */
export const partners = Array.from({ length: 100 }, (_, n) => partnerAt(n))
