import type { Rate } from '../../kit/limits.ts'

/** A call rings at everybody it is for, so one who places many disturbs many. */
export const ringRate: Rate = {
  name: 'ring',
  seconds: 60,
  setting: { variable: 'PARLEY_LIMIT_CALLS', about: 'Calls a minute that a user may place', usual: 20 },
}
