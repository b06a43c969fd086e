import { pageOf, paginationOf, sliceOf } from '../../common/page.ts'
import { operation } from '../../kit/operation.ts'
import { groupNotFound } from '../groups/errors.ts'
import { permissionKit } from '../rbac/index.ts'
import {
  PermissionListQuery,
  PermissionRecord,
  PermissionsSet,
  PermissionsSetReply,
  PermissionValuesReply,
} from '../rbac/schemas.ts'
import { scopeCatalogues } from './catalogue.ts'
import { scopePermissionsChanged } from './events.ts'
import { requireCircle, scopeValues, setScopeValues, unsetScopeValue } from './store.ts'

const listScopePermissions = operation({
  id: 'listScopePermissions',
  route: 'GET /groups/{guid}/scopes/{scope}/permissions',
  summary: "List a scope's permissions in a group",
  description: 'Always the whole catalogue, with the value that holds for members of the scope.',
  query: PermissionListQuery,
  reply: pageOf(PermissionRecord),
  errors: [groupNotFound],
  find: ({ db, params }) => requireCircle(db, params),
  async run({ db, found, query }) {
    const all = permissionKit.toRecords(scopeCatalogues[found.scope], 'scope', await scopeValues(db, found))
    const slice = sliceOf(query)
    const data = all.slice(slice.offset, slice.offset + slice.limit)
    return { data, meta: { pagination: paginationOf(all.length, data.length, slice) } }
  },
})

const setScopePermissions = operation({
  id: 'setScopePermissions',
  route: 'PUT /groups/{guid}/scopes/{scope}/permissions',
  summary: "Set a scope's permissions in a group",
  description: 'Only what is sent changes. The role of the acting member must allow an act as well.',
  body: PermissionsSet,
  reply: PermissionsSetReply,
  errors: [groupNotFound],
  find: ({ db, params }) => requireCircle(db, params),
  async run({ db, found, body, emit }) {
    const whose = `the scope ${found.scope} of the group ${found.guid}`
    const { outcomes, accepted } = await permissionKit.acceptedValues(body.permissions, whose, (id, value) =>
      permissionKit.acceptedValue(scopeCatalogues[found.scope], id, value),
    )
    await setScopeValues(db, found, accepted)
    const permissions = await scopeValues(db, found)
    await emit(scopePermissionsChanged, { ...found, permissions })
    return { data: { ...outcomes, permissions } }
  },
})

const unsetScopePermission = operation({
  id: 'unsetScopePermission',
  route: 'DELETE /groups/{guid}/scopes/{scope}/permissions/{permission}',
  summary: "Return one of a scope's permissions to its default",
  reply: PermissionValuesReply,
  errors: [groupNotFound],
  find: ({ db, params }) => requireCircle(db, params),
  async run({ db, found, params, emit }) {
    permissionKit.requirePermission(scopeCatalogues[found.scope], params.permission)
    const wasSet = await unsetScopeValue(db, found, params.permission)
    const permissions = await scopeValues(db, found)
    if (wasSet) await emit(scopePermissionsChanged, { ...found, permissions })
    return { data: { permissions } }
  },
})

export const operations = [listScopePermissions, setScopePermissions, unsetScopePermission]
