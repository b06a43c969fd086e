import { area } from '../../kit/area.ts'
import { addSampleUsers } from './followers.ts'
import { migrations } from './tables.ts'

export { addMissingUsers, findActiveUser } from './store.ts'

export const users = area({
  name: 'users',
  about: 'The people of an app.',
  migrations,
  tables: ['users'],
  followers: [addSampleUsers],
})
