import { allFailed, eachItem, Outcomes } from '../../common/each.ts'
import { pageOf, paginationOf, sliceOf } from '../../common/page.ts'
import { Done, done, one } from '../../common/reply.ts'
import { badRequest } from '../../kit/errors.ts'
import { operation } from '../../kit/operation.ts'
import { roleNotFound } from '../roles/errors.ts'
import { requireRole } from '../roles/index.ts'
import { features, plainKey, prefixedKey } from './catalogue.ts'
import { featuresAllowed, featuresRestricted } from './events.ts'
import { FeaturesAllow, FeaturesRestrict, RestrictedFeature, RestrictedFeatureListQuery } from './schemas.ts'
import { allow, requireFeature, restrict, restrictionsOf, toRestrictedFeature } from './store.ts'

const deprecated = { replacedBy: '/v3/roles/{role}/permissions' }

const restrictFeatures = operation({
  id: 'restrictFeatures',
  route: 'POST /roles/{role}/restrictedfeatures',
  summary: 'Restrict features for a role',
  description: 'Users of the role can no longer do these things; a key that acts for nobody still can.',
  deprecated,
  body: FeaturesRestrict,
  reply: one(Outcomes),
  errors: [roleNotFound],
  find: ({ db, params }) => requireRole(db, params.role),
  async run({ db, found, body, now, emit }) {
    const keys = new Set(body.featuresToRestrict.map(plainKey))
    const outcomes = await eachItem([...keys].map(prefixedKey), (item) => {
      requireFeature(plainKey(item))
      return `${plainKey(item)} is restricted for the role ${found.role}.`
    })
    if (allFailed(outcomes)) throw badRequest({ featuresToRestrict: ['names no feature'] })
    const known = [...keys].filter((key) => features.has(key))
    const restricted = await restrict(db, found, known, now)
    if (restricted.length > 0) await emit(featuresRestricted, { role: found.role, features: restricted })
    return { data: outcomes }
  },
})

const listRestrictedFeatures = operation({
  id: 'listRestrictedFeatures',
  route: 'GET /roles/{role}/restrictedfeatures',
  summary: 'List the features restricted for a role',
  description: 'In the order of their keys.',
  deprecated,
  query: RestrictedFeatureListQuery,
  reply: pageOf(RestrictedFeature),
  errors: [roleNotFound],
  find: ({ db, params }) => requireRole(db, params.role),
  async run({ db, found, query }) {
    const all = await restrictionsOf(db, found)
    const slice = sliceOf(query)
    const data = all.slice(slice.offset, slice.offset + slice.limit).map(toRestrictedFeature)
    return { data, meta: { pagination: paginationOf(all.length, data.length, slice) } }
  },
})

const allowFeatures = operation({
  id: 'allowFeatures',
  route: 'DELETE /roles/{role}/restrictedfeatures',
  summary: 'Allow features again',
  description: 'Send `featuresToAllow`, or `allowAll: true`. A feature that is not restricted is passed over.',
  deprecated,
  body: FeaturesAllow,
  reply: Done,
  errors: [roleNotFound],
  find: ({ db, params }) => requireRole(db, params.role),
  async run({ db, found, body, emit }) {
    const allowed = await allow(db, found, body.allowAll === true ? 'all' : keysToAllow(body.featuresToAllow))
    if (allowed.length > 0) await emit(featuresAllowed, { role: found.role, features: allowed })
    return done(`${allowed.length} restrictions of the role ${found.role} are lifted.`)
  },
})

function keysToAllow(sent: string[] = []): string[] {
  if (sent.length === 0) throw badRequest({ featuresToAllow: ['is required unless allowAll is true'] })
  const unknown = sent.filter((key) => !features.has(plainKey(key)))
  if (unknown.length > 0) throw badRequest({ featuresToAllow: unknown.map((key) => `${key} is no feature`) })
  return sent.map(plainKey)
}

export const operations = [restrictFeatures, listRestrictedFeatures, allowFeatures]
