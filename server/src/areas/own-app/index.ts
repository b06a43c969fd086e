import { area } from '../../kit/area.ts'
import { operations } from './operations.ts'

export const ownApp = area({
  name: 'own-app',
  about: 'What an API key can tell of the app that it belongs to.',
  operations,
})
