import type { Rate } from '../../kit/limits.ts'

export const guessRate: Rate = {
  name: 'guess',
  seconds: 3600,
  setting: {
    variable: 'PARLEY_LIMIT_GUESSES',
    about: 'Wrong passwords an hour that a user may try at one group',
    usual: 10,
  },
}

export const guessAtGroupRate: Rate = {
  name: 'guessAtGroup',
  seconds: 3600,
  setting: {
    variable: 'PARLEY_LIMIT_GUESSES_AT_GROUP',
    about: "Wrong passwords an hour at one group by all users together; everyone's first is let through",
    usual: 100,
  },
}
