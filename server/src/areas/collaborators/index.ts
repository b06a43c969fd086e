import { area } from '../../kit/area.ts'
import { collaboratorAdded, collaboratorMoved, collaboratorRemoved } from './events.ts'
import { operations } from './operations.ts'
import { migrations } from './tables.ts'

export const collaborators = area({
  name: 'collaborators',
  about: 'Who runs an app together with its owner.',
  mount: 'management',
  operations,
  events: [collaboratorAdded, collaboratorMoved, collaboratorRemoved],
  migrations,
  tables: ['collaborators'],
})
