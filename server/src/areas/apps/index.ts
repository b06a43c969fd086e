import { storedFacts } from '../../common/work-in.ts'
import { area } from '../../kit/area.ts'
import { appArchived, appCreated, appSettingsChanged } from './events.ts'
import { purgeApp } from './jobs.ts'
import { operations } from './operations.ts'
import { factsOf } from './settings.ts'
import { migrations } from './tables.ts'

export {
  accountOf,
  accountsAt,
  addManagementKey,
  ensureOwner,
  findManagementKey,
  ownerAccountId,
  requireAccount,
} from './accounts.ts'
export { leftInStore } from './gates.ts'
export { settingsInForce, usualSettings } from './settings.ts'
export { addApp, appOf, appsOf, requireActiveApp, toAppRecord, toAppSummary } from './store.ts'
export type { AppRow } from './tables.ts'

export const apps = area({
  name: 'apps',
  about: 'The apps of an account, each a world of its own, and what they are set to.',
  mount: 'management',
  operations,
  events: [appCreated, appArchived, appSettingsChanged],
  migrations,
  installTables: ['accounts', 'apps', 'management_keys'],
  jobs: [purgeApp],
  answers: [storedFacts.answeredBy(factsOf)],
})
