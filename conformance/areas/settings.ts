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
  NotSeen,
  type Server,
  success,
} from '../check.ts'
import type { Caller } from '../client.ts'
import { as, clientOf, makeRole, makeUser, makeUsers, say } from '../people.ts'

const replies = 'core.conversations.updateOnReplies'
const calls = 'core.conversations.updateOnCallActivity'
const readOnly = 'core.notifications.push.accessible'

const usual = {
  'core.conversations.updateOnGroupActions': true,
  'core.conversations.updateOnReplies': true,
  'core.conversations.updateOnMessageActions': false,
  'core.conversations.updateOnCallActivity': false,
  'core.conversations.updateOnCustomMessage': true,
  'core.threads.updateOnMessageActions': false,
  'core.notifications.push.enabled': false,
  'core.notifications.push.accessible': true,
  'core.notifications.push.advanced.enabled': true,
  'core.notifications.push.advanced.included': ['preferences', 'templates', 'providers.multiple'],
}

/** The management door, and the settings of the app under test, which are as usual again after the check. */
function management(server: Server): { api: Caller; path: string } {
  if (!server.management) throw new NotSeen('the suite was not given the management door')
  const { api, appId } = server.management
  const path = `/apps/${appId}/settings`
  server.afterwards(() => api.delete(path))
  return { api, path }
}

export const settings: CheckedArea = {
  name: 'settings',
  title: 'Settings',
  contract: '22, 15',
  checks: [
    check('22.1 App', 'a full key is told its own app, and nobody else is told any', async (server) => {
      const app = data(await server.api.get('/app', { onBehalfOf: 'conf-nobody' }))
      equal(Object.keys(app).toSorted(), ['createdAt', 'id', 'name', 'region', 'state'], 'what is told')
      equal([app.state, isSeconds(app.createdAt)], ['active', true], 'state, and whether createdAt is in seconds')
      if (server.management) equal(app.id, server.management.appId, '`id`')
      failure(await server.auth.get('/app'), 403, 'AUTH_ERR_NO_ACCESS')
      const [uid = ''] = await makeUsers(server, 1)
      failure(await (await clientOf(server, uid)).get('/app'), 403, 'AUTH_ERR_NO_ACCESS')
    }),
    check('22.2 App', 'a region may be left out, and is then that of the install', async (server) => {
      const { api } = management(server)
      const answer = await api.post('/apps', { name: server.fresh('app'), skipSampleData: true })
      if (answer.status === 403) throw new NotSeen('the account has as many apps as it may have')
      const { id, region } = data(answer)
      server.afterwards(() => api.delete(`/apps/${id}`))
      const [, named = region] = /\.api-(\w+)\./.exec(new URL(server.url).hostname) ?? []
      equal(region, named, '`region`')
    }),
    check('22.3 List', 'comes with an empty `meta`', async (server) => {
      const { api, path } = management(server)
      equal(success(await api.get(path)).meta, {}, '`meta`')
    }),
    check('22.3 List', 'every key with its default, as a flat map', async (server) => {
      const { api, path } = management(server)
      done(await api.delete(path))
      const { ...known } = data(await api.get(path))
      for (const [key, value] of Object.entries(usual)) equal(known[key], value, key)
    }),
    check('22.3 Set', 'answers for each key, and changes no other', async (server) => {
      const { api, path } = management(server)
      const outcomes = data(
        await api.post(path, { settings: { [replies]: false, 'core.flying': true, [readOnly]: false } }),
      )
      doneEntry(outcomes[replies], replies)
      failedEntry(outcomes['core.flying'], 'ERR_BAD_REQUEST', 'an unknown key')
      failedEntry(outcomes[readOnly], 'ERR_BAD_REQUEST', 'a read-only key')
      const { [replies]: changed, [calls]: other, [readOnly]: kept } = data(await api.get(path))
      equal([changed, other, kept], [false, false, true], 'the settings after that')
    }),
    check('22.3 Reset', 'some keys, or all', async (server) => {
      const { api, path } = management(server)
      data(await api.post(path, { settings: { [replies]: false, [calls]: true } }))
      done(await api.delete(path, { settings: [calls] }))
      const some = data(await api.get(path))
      equal([some[replies], some[calls]], [false, false], 'the settings after one was reset')
      done(await api.delete(path))
      equal(data(await api.get(path))[replies], true, 'the other after all were reset')
    }),
    check('22.3 Errors', 'no settings at all, and an app that does not exist', async (server) => {
      const { api, path } = management(server)
      failure(await api.post(path, {}), 400, 'ERR_BAD_REQUEST', 'settings')
      failure(await api.get('/apps/conf0nobody/settings'), 404, 'ERR_APP_NOT_FOUND')
    }),
    check('22.3 Effect', 'a reply becomes the last message, or does not', async (server) => {
      const { api, path } = management(server)
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { id } = await say(server, a, b)
      const reply = async () => {
        const sending = { ...as(a), body: { data: { text: 'Conformance' } } }
        const sent = data(await server.api.send('POST', `/messages/${id}/thread`, sending))
        const { lastMessage, unreadMessageCount } = data(
          await server.api.send('GET', `/users/${a}/conversation`, as(b)),
        )
        equal(unreadMessageCount, '1', 'unread, which replies are not')
        return lastMessage.id === sent.id
      }
      equal(await reply(), true, 'whether a reply is the last message')
      data(await api.post(path, { settings: { [replies]: false } }))
      equal(await reply(), false, 'whether one is after the setting is off')
    }),
    check('15.2 Client', 'GET /me/settings has switches, limits and what is restricted', async (server) => {
      const { role } = await makeRole(server)
      const { uid } = await makeUser(server, { role })
      data(await server.api.post(`/roles/${role}/restrictedfeatures`, { featuresToRestrict: ['createGroup'] }))
      const client = await clientOf(server, uid)
      const { settings: known, restrictedFeatures } = data(await client.get('/me/settings'))
      equal(typeof known?.[replies], 'boolean', replies)
      for (const cap of ['file.size.max', 'file.count.max']) holds(Number.isInteger(known[cap]), `${cap} is a number`)
      equal(restrictedFeatures, ['u.createGroup'], '`restrictedFeatures`')
      data(await server.api.post(`/roles/${role}/restrictedfeatures`, { featuresToRestrict: ['listSettings'] }))
      failure(await client.get('/me/settings'), 403, 'ERR_PERMISSION_DENIED')
    }),
    check('15.2 Client', 'GET /users/online-count is a number that the list agrees with', async (server) => {
      const [uid = ''] = await makeUsers(server, 1)
      const client = await clientOf(server, uid)
      const { count } = data(await client.get('/users/online-count'))
      const { meta } = success(await client.get('/users?status=available&perPage=1'))
      equal(count, meta.pagination.total, '`count`')
      failure(await server.api.get('/users/online-count'), 403, 'AUTH_ERR_NO_ACCESS')
    }),
  ],
}
