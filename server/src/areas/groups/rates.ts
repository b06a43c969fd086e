import type { Rate } from '../../kit/limits.ts'

export const passwordRate: Rate = {
  name: 'password',
  seconds: 60,
  setting: {
    variable: 'PARLEY_LIMIT_PASSWORDS',
    about: "Passwords a minute that a user's client may try at groups or give to new ones",
    usual: 20,
  },
}
