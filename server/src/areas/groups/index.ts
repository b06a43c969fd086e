import { area } from '../../kit/area.ts'
import { addSampleGroup } from './followers.ts'
import { migrations } from './tables.ts'

export { addMissingGroups, requireGroup } from './store.ts'
export type { GroupRow } from './tables.ts'

export const groups = area({
  name: 'groups',
  about: 'Circles of users that talk and call together.',
  migrations,
  tables: ['groups'],
  followers: [addSampleGroup],
})
