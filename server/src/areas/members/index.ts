import { area } from '../../kit/area.ts'
import { operations } from './operations.ts'

export const members = area({
  name: 'members',
  about: 'Who is in a group, and as what.',
  operations,
})
