import {
  type CheckedArea,
  check,
  data,
  done,
  equal,
  failure,
  holds,
  isSeconds,
  NotSeen,
  refusals,
  says,
  success,
} from '../check.ts'
import { belowRole, makeRole, makeUser } from '../people.ts'

const rolesMax = 25
const bad = { status: 400, code: 'ERR_BAD_REQUEST' }

export const roles: CheckedArea = {
  name: 'roles',
  title: 'Roles',
  contract: '05',
  checks: [
    check('2 Role record', 'there is a role `default`', async ({ api }) => {
      const role = data(await api.get('/roles/default'))
      equal(role.role, 'default', '`role`')
      holds(typeof role.name === 'string' && isSeconds(role.createdAt), '`name` and `createdAt`')
    }),
    check('4 Create', 'answers what was sent, with the id in lower case', async (server) => {
      const role = server.fresh('Role').toUpperCase()
      server.afterwards(() => server.api.delete(`/roles/${role}`))
      const settings = { listUsers: 'all', sendMessagesTo: 'friendsOnly' }
      const sent = { role, name: 'Tutor', description: 'Leads', metadata: { a: 1 }, settings }
      const { createdAt, ...made } = data(await server.api.post('/roles', sent))
      equal(made, { ...sent, role: role.toLowerCase() }, 'the role')
      holds(isSeconds(createdAt), '`createdAt` is in UNIX seconds')
    }),
    check('4 Create', 'unknown settings are dropped', async (server) => {
      const { settings } = await makeRole(server, { listUsers: 'all', surprise: 1 })
      equal(settings, { listUsers: 'all' }, '`settings`')
    }),
    check('4 Create', 'an id that exists: 400 ERR_BAD_REQUEST, details.role', async (server) => {
      const { role } = await makeRole(server)
      const answer = await server.api.post('/roles', { role, name: 'Twice' })
      failure(answer, 400, 'ERR_BAD_REQUEST', 'role')
      says(answer.body.error, 'already exists')
    }),
    check('4 Create', 'every field at fault is named', async ({ api }) => {
      const answer = await api.post('/roles', {})
      failure(answer, 400, 'ERR_BAD_REQUEST', 'role')
      failure(answer, 400, 'ERR_BAD_REQUEST', 'name')
    }),
    ...refusals(
      '4 Create',
      (
        [
          ['a malformed id', { role: 'no blanks', name: 'x' }, 'role'],
          ['an id of 101 characters', { role: 'x'.repeat(101), name: 'x' }, 'role'],
          ['an empty name', { role: 'conf-x', name: '' }, 'name'],
          ['a name of 101 characters', { role: 'conf-x', name: 'x'.repeat(101) }, 'name'],
          [
            'a description of 256 characters',
            { role: 'conf-x', name: 'x', description: 'x'.repeat(256) },
            'description',
          ],
          [
            'a setting it does not know',
            { role: 'conf-x', name: 'x', settings: { listUsers: 'some' } },
            'settings.listUsers',
          ],
        ] as const
      ).map(([expects, body, field]) => ({ expects, method: 'POST', path: '/roles', body, field, ...bad })),
    ),
    check('5 List', 'newest first, page by page', async (server) => {
      const { role } = await makeRole(server)
      const { data: list, meta } = success(await server.api.get('/roles'))
      holds(
        list.some((each: { role: string }) => each.role === role),
        'the new role is listed',
      )
      const times = list.map(({ createdAt }: { createdAt: number }) => createdAt)
      equal(
        times,
        times.toSorted((a: number, b: number) => b - a),
        'the order of `createdAt`',
      )
      equal(meta.pagination.count, list.length, '`count`')
    }),
    check('5 Get', 'a role is found in any letter case', async (server) => {
      const { role } = await makeRole(server)
      equal(data(await server.api.get(`/roles/${role.toUpperCase()}`)).role, role, '`role`')
    }),
    check('6 Update', 'what is not sent stays, metadata and settings are replaced whole', async (server) => {
      const { role } = await makeRole(server, { listUsers: 'all', sendMessagesTo: 'all' })
      const changed = data(await server.api.put(`/roles/${role}`, { settings: { listUsers: 'friendsOnly' } }))
      equal([changed.name, changed.settings], ['Conformance', { listUsers: 'friendsOnly' }], 'name and settings')
      holds(isSeconds(changed.updatedAt), '`updatedAt` is in UNIX seconds')
    }),
    check('6 Update', 'unset removes, and wins over a value beside it', async (server) => {
      const { role } = await makeRole(server, { listUsers: 'all' })
      const body = { description: 'x', unset: ['description', 'settings'] }
      const changed = data(await server.api.put(`/roles/${role}`, body))
      equal(['description' in changed, 'settings' in changed], [false, false], 'whether they are still there')
    }),
    check('6 Update', 'an empty description clears it', async (server) => {
      const { role } = await makeRole(server)
      data(await server.api.put(`/roles/${role}`, { description: 'Leads' }))
      equal('description' in data(await server.api.put(`/roles/${role}`, { description: '' })), false, 'a description')
    }),
    ...refusals('6 Update', [
      { expects: 'an empty name', method: 'PUT', path: belowRole(''), body: { name: '' }, field: 'name', ...bad },
      { expects: 'an unknown role, get', path: '/roles/conf-nobody', status: 404, code: 'ERR_ROLE_NOT_FOUND' },
      {
        expects: 'an unknown role, update',
        method: 'PUT',
        path: '/roles/conf-nobody',
        body: {},
        status: 404,
        code: 'ERR_ROLE_NOT_FOUND',
      },
      {
        expects: 'an unknown role, delete',
        method: 'DELETE',
        path: '/roles/conf-nobody',
        status: 404,
        code: 'ERR_ROLE_NOT_FOUND',
      },
      {
        expects: 'deleting `default`',
        method: 'DELETE',
        path: '/roles/default',
        status: 403,
        code: 'ERR_ROLE_DELETE_DENIED',
      },
    ]),
    check('7 Delete', 'users of a deleted role get the role `default`; a second delete is 404', async (server) => {
      const { role } = await makeRole(server)
      const { uid } = await makeUser(server, { role })
      done(await server.api.delete(`/roles/${role}`))
      failure(await server.api.delete(`/roles/${role}`), 404, 'ERR_ROLE_NOT_FOUND')
      const user = await server.soon(
        () => server.api.get(`/users/${uid}`),
        ({ body }) => body?.data?.role === 'default',
      )
      equal(user.body?.data?.role, 'default', '`role` of the user')
    }),
    check('8 Errors', 'more than 25 roles: 402 ERR_PLAN_QUOTA_RESTRICTION', async (server) => {
      const { total } = success(await server.api.get('/roles?perPage=1')).meta.pagination
      for (let there = total; there < rolesMax; there += 1) await makeRole(server)
      const body = { role: server.fresh('role'), name: 'One too many' }
      server.afterwards(() => server.api.delete(`/roles/${body.role}`))
      failure(await server.api.post('/roles', body), 402, 'ERR_PLAN_QUOTA_RESTRICTION')
    }),
    check('3 settings', 'listUsers: friendsOnly narrows the list of users for an acting user', async (server) => {
      const { role } = await makeRole(server, { listUsers: 'friendsOnly' })
      const { uid } = await makeUser(server, { role })
      const friend = await makeUser(server)
      const { status } = await server.api.post(`/users/${uid}/friends`, { accepted: [friend.uid] })
      if (status !== 200) throw new NotSeen('the server has no friends')
      const list = data(await server.api.get('/users', { onBehalfOf: uid }))
      equal(
        list.map((user: { uid: string }) => user.uid),
        [friend.uid],
        'the users listed',
      )
    }),
  ],
}
