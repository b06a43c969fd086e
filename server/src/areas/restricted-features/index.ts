import { area } from '../../kit/area.ts'
import { featuresAllowed, featuresRestricted } from './events.ts'
import { forgetDeletedRoles } from './followers.ts'
import { operations } from './operations.ts'
import { migrations } from './tables.ts'

export { type FeatureKey, features, prefixedKey } from './catalogue.ts'

export const restrictedFeatures = area({
  name: 'restricted-features',
  about: 'Switches whole features off for a role. Deprecated: role permissions do the same and more.',
  operations,
  events: [featuresRestricted, featuresAllowed],
  migrations,
  tables: ['restricted_features'],
  followers: [forgetDeletedRoles],
})
