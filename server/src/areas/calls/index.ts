import { area } from '../../kit/area.ts'
import { audit } from './audit.ts'
import { callEvents } from './events.ts'
import { followDeletedGroups, followDepartures, followForgottenMembers, followGoneUsers } from './followers.ts'
import { followGroup, followUser } from './jobs.ts'
import { superviseCall } from './ledger.ts'
import { operations } from './operations.ts'
import { migrations } from './tables.ts'

declare module '../../kit/ports.ts' {
  interface Timings {
    /** A call that nobody answers rings this long. */
    ringSeconds: number
    /** A participant not heard of for this long has left. */
    leaseSeconds: number
  }
}

export { isGroupInCall, isInCall } from './busy.ts'
export { isGroupCalled } from './call-messages.ts'
export type { Course } from './course.ts'
export { beginCall, inCall, newSessionId, startOf } from './ledger.ts'
export { liveCallsOf } from './live.ts'
export { recordOf } from './record.ts'
export * as callRules from './rules.ts'
export { isThere, signOfLife } from './signs.ts'
export { type CallState, type CallStatus, isFinal, ongoingEntry, openSpan } from './state.ts'
export { callText, requireCall } from './store.ts'

export const calls = area({
  name: 'calls',
  about: 'Call history: who called whom, who took part, how long, and how each number came about.',
  host: 'call',
  operations,
  events: callEvents,
  migrations,
  tables: ['calls', 'call_facts', 'call_members', 'call_signs'],
  followers: [followDeletedGroups, followDepartures, followForgottenMembers, followGoneUsers],
  jobs: [superviseCall, followGroup, followUser],
  audit,
})
