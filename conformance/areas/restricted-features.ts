import {
  type CheckedArea,
  check,
  data,
  done,
  doneEntry,
  equal,
  failedEntry,
  failure,
  holds,
  isSeconds,
  refusals,
  success,
} from '../check.ts'
import { belowRole, clientOf, makeRole, makeUser } from '../people.ts'

const featureKeys =
  `addMember ban blockUser changeScope createCall createGroup createMessage createMessageThread deleteCall
  deleteConversationForUser deleteGroup deleteGroupMessages deleteMessage getBlockedUsers getCall getConversation getGroup
  getGroupMessages getMember getMessage getMyDetails getUser getUserMessages joinGroup kickMember leaveGroup
  listBannedUsers listCalls listConversations listGroupMembers listGroups listMessages listSettings listThreadedMessages
  listUsers logout massMemberOperate patchOwner unban unblockUser updateAuthToken updateCall updateGroup updateMessage`.split(
    /\s+/,
  )

const path = (role: string) => `/roles/${role}/restrictedfeatures`
const bad = { status: 400, code: 'ERR_BAD_REQUEST' }

export const restrictedFeatures: CheckedArea = {
  name: 'restricted-features',
  title: 'Restricted features',
  contract: '07',
  checks: [
    check('1 Endpoints', 'every answer is marked deprecated and names its replacement', async (server) => {
      const { role } = await makeRole(server)
      const { headers } = await server.api.get(path(role))
      equal(headers.deprecation, 'true', 'the header Deprecation')
      const link = `</v3/roles/${role}/permissions>; rel="successor-version"`
      equal(headers.link, link, 'the header Link')
    }),
    check('3 Feature keys', 'all 44 features can be restricted, with and without the prefix', async (server) => {
      const { role } = await makeRole(server)
      const sent = featureKeys.map((key, i) => (i % 2 === 0 ? key : `u.${key}`))
      const entries = data(await server.api.post(path(role), { featuresToRestrict: sent }))
      equal(Object.keys(entries).toSorted(), featureKeys.map((key) => `u.${key}`).toSorted(), 'the keys answered')
      for (const [key, entry] of Object.entries(entries)) doneEntry(entry, key)
      const { data: list, meta } = success(await server.api.get(path(role)))
      equal([list.length, meta.pagination.total], [44, 44], 'count and total')
      equal(
        list.map(({ key }: { key: string }) => key),
        featureKeys.map((key) => `u.${key}`).toSorted(),
        'the order',
      )
    }),
    check('2 Feature record', 'has title, description, key, path and the time of the restriction', async (server) => {
      const { role } = await makeRole(server)
      data(await server.api.post(path(role), { featuresToRestrict: ['deleteGroup'] }))
      const [feature] = data(await server.api.get(path(role)))
      equal([feature.key, feature.path], ['u.deleteGroup', '/v3/groups/{{guid}}'], 'key and path')
      equal(feature.title, 'Delete Group', '`title`')
      holds(typeof feature.description === 'string' && isSeconds(feature.createdAt), '`description` and `createdAt`')
    }),
    check('4 Restrict', 'an unknown key fails alone; twice is a success', async (server) => {
      const { role } = await makeRole(server)
      const entries = data(await server.api.post(path(role), { featuresToRestrict: ['createGroup', 'flyGroup'] }))
      doneEntry(entries['u.createGroup'], 'the known key')
      failedEntry(entries['u.flyGroup'], 'ERR_BAD_REQUEST', 'the unknown key')
      const again = data(await server.api.post(path(role), { featuresToRestrict: ['u.createGroup'] }))
      doneEntry(again['u.createGroup'], 'the second time')
    }),
    ...refusals('4 Restrict', [
      {
        expects: 'only unknown keys',
        method: 'POST',
        path: belowRole('/restrictedfeatures'),
        body: { featuresToRestrict: ['flyGroup'] },
        ...bad,
      },
      ...[undefined, [], 'createGroup'].map((featuresToRestrict) => ({
        expects: `the list ${JSON.stringify(featuresToRestrict) ?? 'missing'}`,
        method: 'POST' as const,
        path: belowRole('/restrictedfeatures'),
        body: { featuresToRestrict },
        field: 'featuresToRestrict',
        ...bad,
      })),
    ]),
    check('5 List', 'nothing restricted: an empty list', async (server) => {
      const { role } = await makeRole(server)
      equal(data(await server.api.get(path(role))), [], 'the features')
    }),
    check('6 Allow', 'lifts the keys sent, or all of them', async (server) => {
      const { role } = await makeRole(server)
      const keys = async () => data(await server.api.get(path(role))).map(({ key }: { key: string }) => key)
      data(await server.api.post(path(role), { featuresToRestrict: ['ban', 'getUser', 'listUsers'] }))
      done(await server.api.delete(path(role), { featuresToAllow: ['u.ban', 'logout'] }))
      equal(await keys(), ['u.getUser', 'u.listUsers'], 'what is left')
      done(await server.api.delete(path(role), { allowAll: true }))
      equal(await keys(), [], 'what is left after all')
    }),
    ...refusals(
      '6 Allow',
      [{}, { allowAll: false }, { featuresToAllow: ['flyGroup'] }].map((body) => ({
        expects: `the body ${JSON.stringify(body)}`,
        method: 'DELETE' as const,
        path: belowRole('/restrictedfeatures'),
        body,
        ...bad,
      })),
    ),
    check(
      '7 Effect',
      'an acting user whose role is restricted: 403 ERR_PERMISSION_DENIED, at both doors',
      async (server) => {
        const { role } = await makeRole(server)
        const { uid } = await makeUser(server, { role })
        const client = await clientOf(server, uid)
        data(await client.get('/users?perPage=1'))
        data(await server.api.post(path(role), { featuresToRestrict: ['listUsers', 'listCalls'] }))
        failure(await server.api.get('/users', { onBehalfOf: uid }), 403, 'ERR_PERMISSION_DENIED')
        failure(await client.get('/users'), 403, 'ERR_PERMISSION_DENIED')
        failure(await server.calls.get('/calls', { onBehalfOf: uid }), 403, 'ERR_PERMISSION_DENIED')
        data(await server.api.get('/users?perPage=1'))
        done(await server.api.delete(path(role), { allowAll: true }))
        data(await client.get('/users?perPage=1'))
      },
    ),
    ...refusals(
      '8 Errors',
      (['GET', 'POST', 'DELETE'] as const).map((method) => ({
        expects: `${method} for an unknown role`,
        method,
        path: path('conf-nobody'),
        body: { featuresToRestrict: ['ban'], allowAll: true },
        status: 404,
        code: 'ERR_ROLE_NOT_FOUND',
      })),
    ),
  ],
}
