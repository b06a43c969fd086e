import type { Rate } from '../../kit/limits.ts'

/** Each receiver counts. */
export const messageRate: Rate = {
  name: 'sendMessage',
  seconds: 60,
  setting: { variable: 'PARLEY_LIMIT_MESSAGES', about: 'Messages a minute and user', usual: 30 },
}
