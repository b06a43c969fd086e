import { addApp, ensureOwner, ownerAccountId, toAppRecord } from '../areas/apps/index.ts'
import { workIn } from '../common/work-in.ts'
import { type Command, required, table, UsageError, withExistingHouse, withHouse } from './command.ts'

export const apps: Command = {
  name: 'apps',
  usage: ['parley apps create --name NAME [--region us|eu|in]', 'parley apps list'],
  about: 'Create apps, or list them.',
  options: { name: { type: 'string', about: 'What to call the app' } },
  async run(invocation) {
    const [verb] = invocation.words
    if (verb === 'list') return list(invocation.config)
    if (verb !== 'create') throw new UsageError('Say "apps create" or "apps list".')
    const name = required(invocation, 'name')
    const { region } = invocation.config
    return withHouse(invocation.config, async ({ database, tools, config }) => {
      const record = await database.write(async (connection) => {
        const inApp = (appId: string) => workIn(connection, appId, tools)
        const { query } = connection
        await ensureOwner(query, config.domain)
        const app = await addApp(query, inApp, { name, region, accountId: ownerAccountId, sampleData: false })
        return toAppRecord(query, inApp(app.id), app)
      })
      const keys = Object.values(record.apiKeys).map(({ name, scope, apiKey }) => [`  ${name}`, scope, apiKey])
      return { text: `Created the app ${record.id} (${name}, ${region}).\n${table(keys)}`, data: record }
    })
  },
}

function list(config: Parameters<typeof withHouse>[0]) {
  return withExistingHouse(config, async ({ database }) => {
    const rows = await database.reader.query
      .selectFrom('apps')
      .selectAll()
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    const data = rows.map(({ id, name, region, created_at, archived_at }) => ({
      id,
      name,
      region,
      createdAt: created_at,
      state: archived_at === null ? 'active' : 'archived',
    }))
    const text =
      data.length === 0
        ? 'There are no apps yet; "parley apps create" makes one.'
        : table(data.map(({ id, name, region, state }) => [id, region, state, name]))
    return { text, data }
  })
}
