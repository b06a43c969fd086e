import type { Rate } from '../../kit/limits.ts'

/** What devices in calls say: each of it is a fact that is kept. That they are still there is not counted. */
export const callSessionRate: Rate = {
  name: 'callSession',
  seconds: 60,
  setting: {
    variable: 'PARLEY_LIMIT_CALL_SESSIONS',
    about: "Times a minute that a user's devices may join a call, leave it or switch their camera",
    usual: 60,
  },
}

/** A call rings at everybody it is for, so one who places many disturbs many. */
export const ringRate: Rate = {
  name: 'ring',
  seconds: 60,
  setting: { variable: 'PARLEY_LIMIT_CALLS', about: 'Calls a minute that a user may place', usual: 20 },
}
