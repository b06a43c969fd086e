import { eachItem, ManagementOutcomes } from '../../common/each.ts'
import { pageOf, paginate } from '../../common/page.ts'
import { Done, done, one } from '../../common/reply.ts'
import { badRequest } from '../../kit/errors.ts'
import { managementOperation } from '../../kit/operation.ts'
import { Type } from '../../kit/schema.ts'
import { accountOf } from './accounts.ts'
import { appArchived, appLimitReached, appNotFound } from './errors.ts'
import { AppCreate, AppDeletion, AppListQuery, AppRecord, AppSettings, SettingsReset, SettingsSet } from './schemas.ts'
import { problemWith, settingsInForce } from './settings.ts'
import {
  addApp,
  appFilters,
  appsOf,
  archiveApp,
  changeSettings,
  requireActiveApp,
  requireApp,
  toAppRecord,
} from './store.ts'

const createApp = managementOperation({
  id: 'createApp',
  changesCallers: true,
  route: 'POST /apps',
  summary: 'Create an app',
  description:
    'The answer holds the two keys every app begins with: one `fullAccess`, one `authOnly`. Without a `region`, it is in ' +
    'that of the install.',
  body: AppCreate,
  reply: one(AppRecord),
  errors: [appLimitReached],
  async run({ platform, inApp, body, caller, tools }) {
    const app = await addApp(platform, inApp, {
      name: body.name,
      region: body.region ?? tools.place.region,
      accountId: accountOf(caller),
      sampleData: body.skipSampleData === false,
    })
    return { data: await toAppRecord(platform, inApp(app.id), app) }
  },
})

const listApps = managementOperation({
  id: 'listApps',
  route: 'GET /apps',
  summary: 'List apps',
  query: AppListQuery,
  reply: pageOf(AppRecord),
  async run({ platform, inApp, query, caller }) {
    const { data, meta } = await paginate(appsOf(platform, accountOf(caller)), appFilters, query, (app) => app)
    return { data: await Promise.all(data.map((app) => toAppRecord(platform, inApp(app.id), app))), meta }
  },
})

const getApp = managementOperation({
  id: 'getApp',
  route: 'GET /apps/{appId}',
  summary: 'Get an app',
  reply: one(AppRecord),
  errors: [appNotFound, appArchived],
  find: ({ platform, params, caller }) => requireActiveApp(platform, accountOf(caller), params.appId),
  run: async ({ platform, inApp, found }) => ({ data: await toAppRecord(platform, inApp(found.id), found) }),
})

const deleteApp = managementOperation({
  id: 'deleteApp',
  changesCallers: true,
  route: 'DELETE /apps/{appId}',
  summary: 'Schedule the deletion of an app',
  description:
    'The app stops answering at once and is deleted for good after 30 days. Asking again answers the same date.',
  reply: AppDeletion,
  errors: [appNotFound],
  find: ({ platform, params, caller }) => requireApp(platform, accountOf(caller), params.appId),
  async run({ platform, inApp, found }) {
    const scheduledToDeleteAt = await archiveApp(platform, inApp(found.id), found)
    return { data: { success: true as const, scheduledToDeleteAt } }
  },
})

const listAppSettings = managementOperation({
  id: 'listAppSettings',
  route: 'GET /apps/{appId}/settings',
  summary: 'List the settings of an app',
  description: 'All of them, with the values in force.',
  reply: Type.Object({ data: AppSettings, meta: Type.Object({}) }),
  errors: [appNotFound, appArchived],
  find: ({ platform, params, caller }) => requireActiveApp(platform, accountOf(caller), params.appId),
  run: async ({ found }) => ({ data: settingsInForce(found.settings), meta: {} }),
})

const setAppSettings = managementOperation({
  id: 'setAppSettings',
  changesCallers: true,
  route: 'POST /apps/{appId}/settings',
  summary: 'Set settings of an app',
  description:
    'The answer tells for each key what became of it. A new value goes for what is written from then on, within half a ' +
    'second on every node; what was written stays as it is.',
  body: SettingsSet,
  reply: one(ManagementOutcomes),
  errors: [appNotFound, appArchived],
  find: ({ platform, params, caller }) => requireActiveApp(platform, accountOf(caller), params.appId),
  async run({ platform, inApp, found, body }) {
    const accepted: [string, unknown][] = []
    const outcomes = await eachItem(
      Object.keys(body.settings),
      (key) => {
        const value = body.settings[key]
        const problem = problemWith(key, value)
        if (problem) throw badRequest({ [key]: [problem] })
        accepted.push([key, value])
        return `${key} is ${value}.`
      },
      'mgmt-api',
    )
    await changeSettings(platform, inApp(found.id), found, (set) => ({ ...set, ...Object.fromEntries(accepted) }))
    return { data: outcomes }
  },
})

const resetAppSettings = managementOperation({
  id: 'resetAppSettings',
  changesCallers: true,
  route: 'DELETE /apps/{appId}/settings',
  summary: 'Return settings of an app to their defaults',
  description: 'Those named in `settings`, or all.',
  body: SettingsReset,
  reply: Done,
  errors: [appNotFound, appArchived],
  find: ({ platform, params, caller }) => requireActiveApp(platform, accountOf(caller), params.appId),
  async run({ platform, inApp, found, body: { settings: keys } }) {
    const refused = keys?.filter((key) => problemWith(key)) ?? []
    if (refused.length > 0) throw badRequest({ settings: refused.map((key) => `${key} ${problemWith(key)}`) })
    await changeSettings(platform, inApp(found.id), found, (set) =>
      keys ? Object.fromEntries(Object.entries(set).filter(([key]) => !keys.includes(key))) : {},
    )
    return done(keys ? `${keys.join(', ')}: back to the default.` : 'All settings are back to their defaults.')
  },
})

export const operations = [createApp, listApps, getApp, deleteApp, listAppSettings, setAppSettings, resetAppSettings]
