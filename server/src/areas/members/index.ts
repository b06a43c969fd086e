import { area } from '../../kit/area.ts'
import { operations } from './operations.ts'
import { guessAtGroupRate, guessRate } from './rates.ts'

export const members = area({
  name: 'members',
  about: 'Who is in a group, and as what.',
  operations,
  rates: [guessRate, guessAtGroupRate],
})
