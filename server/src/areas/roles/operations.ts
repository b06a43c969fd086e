import { pageOf, paginate } from '../../common/page.ts'
import { quotaReached } from '../../common/refusals.ts'
import { Done, done, one } from '../../common/reply.ts'

import { operation } from '../../kit/operation.ts'
import { roleDeleteDenied, roleNotFound } from './errors.ts'
import { roleCreated, roleDeleted, roleUpdated } from './events.ts'
import { defaultRole, Role, RoleCreate, RoleListQuery, RoleUpdate } from './schemas.ts'
import { addRole, changeRole, removeRole, requireRole, rolesOf, toRole } from './store.ts'

const createRole = operation({
  id: 'createRole',
  route: 'POST /roles',
  summary: 'Create a role',
  description: 'An app has at most 25 roles, `default` among them. Ids are stored in lower case.',
  body: RoleCreate,
  reply: one(Role),
  errors: [quotaReached],
  async run(call) {
    const role = toRole(await addRole(call, call.body))
    await call.emit(roleCreated, { role })
    return { data: role }
  },
})

const listRoles = operation({
  id: 'listRoles',
  route: 'GET /roles',
  summary: 'List roles',
  description: 'Newest first.',
  query: RoleListQuery,
  reply: pageOf(Role),
  run: ({ db, query }) => paginate(rolesOf(db), {}, query, toRole),
})

const getRole = operation({
  id: 'getRole',
  route: 'GET /roles/{role}',
  summary: 'Get a role',
  reply: one(Role),
  errors: [roleNotFound],
  find: ({ db, params }) => requireRole(db, params.role),
  run: async ({ found }) => ({ data: toRole(found) }),
})

const updateRole = operation({
  id: 'updateRole',
  route: 'PUT /roles/{role}',
  summary: 'Change a role',
  description: 'What is not sent stays. `metadata` and `settings` are replaced whole. The id never changes.',
  body: RoleUpdate,
  reply: one(Role),
  errors: [roleNotFound],
  find: ({ db, params }) => requireRole(db, params.role),
  async run(call) {
    const { found, body } = call
    const { unset = [], ...values } = body
    if (unset.length === 0 && Object.keys(values).length === 0) return { data: toRole(found) }
    const role = toRole(await changeRole(call, found, body))
    await call.emit(roleUpdated, { role })
    return { data: role }
  },
})

const deleteRole = operation({
  id: 'deleteRole',
  route: 'DELETE /roles/{role}',
  summary: 'Delete a role',
  description:
    'Its users get the role `default`. Its permissions go with it, and it leaves the role lists of other roles; a list ' +
    'that is emptied so matches nobody.',
  reply: Done,
  errors: [roleNotFound, roleDeleteDenied],
  find: ({ db, params }) => requireRole(db, params.role),
  async run({ db, found, emit }) {
    if (found.role === defaultRole) throw roleDeleteDenied()
    await removeRole(db, found)
    await emit(roleDeleted, { role: toRole(found), id: found.id })
    return done(`The role ${found.role} is deleted.`)
  },
})

export const operations = [createRole, listRoles, getRole, updateRole, deleteRole]
