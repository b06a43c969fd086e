import { area } from '../../kit/area.ts'
import { operations } from './operations.ts'

export const clientSettings = area({
  name: 'client-settings',
  about: 'What a client has to know of the app before it shows anything: switches, limits, and what is not allowed.',
  operations,
})
