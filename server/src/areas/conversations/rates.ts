import type { Rate } from '../../kit/limits.ts'

export const unreadRate: Rate = {
  name: 'markUnread',
  seconds: 60,
  setting: {
    variable: 'PARLEY_LIMIT_UNREAD',
    about: 'How often a minute a user may mark messages as unread',
    usual: 5,
  },
}
