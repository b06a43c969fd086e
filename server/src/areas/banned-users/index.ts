import { area } from '../../kit/area.ts'
import { operations } from './operations.ts'

export const bannedUsers = area({
  name: 'banned-users',
  about: 'Who is shut out of a group.',
  operations,
})
