import { area } from '../../kit/area.ts'
import { appArchived, appCreated } from './events.ts'
import { purgeApp } from './jobs.ts'
import { operations } from './operations.ts'
import { migrations } from './tables.ts'

export { addManagementKey, ensureOwner, findManagementKey, ownerAccountId } from './accounts.ts'
export { leftInStore } from './gates.ts'
export { addApp, appsOf, toAppRecord } from './store.ts'
export type { AppRow } from './tables.ts'

export const apps = area({
  name: 'apps',
  about: 'The apps of an account; each is a world of its own.',
  mount: 'management',
  operations,
  events: [appCreated, appArchived],
  migrations,
  installTables: ['accounts', 'apps', 'management_keys'],
  jobs: [purgeApp],
})
