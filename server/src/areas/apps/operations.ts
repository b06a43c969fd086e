import { managementOperation } from '../../kit/operation.ts'
import { pageOf, paginate } from '../../kit/page.ts'
import { one } from '../../kit/reply.ts'
import { appArchived, appLimitReached, appNotFound } from './errors.ts'
import { AppCreate, AppDeletion, AppListQuery, AppRecord } from './schemas.ts'
import { addApp, appFilters, appsOf, archiveApp, requireActiveApp, requireApp, toAppRecord } from './store.ts'

const createApp = managementOperation({
  id: 'createApp',
  changesCallers: true,
  route: 'POST /apps',
  summary: 'Create an app',
  description: 'The answer holds the two keys every app begins with: one `fullAccess`, one `authOnly`.',
  body: AppCreate,
  reply: one(AppRecord),
  errors: [appLimitReached],
  async run({ platform, inApp, body, caller }) {
    const app = await addApp(platform, inApp, {
      name: body.name,
      region: body.region ?? 'us',
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

function accountOf(caller: { kind: string; accountId?: number }): number {
  return caller.accountId ?? 0
}

export const operations = [createApp, listApps, getApp, deleteApp]
