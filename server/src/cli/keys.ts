import { addKey, keysOf, removeKey, toApiKey } from '../areas/api-keys/index.ts'
import { addManagementKey } from '../areas/apps/index.ts'
import { workIn } from '../common/work-in.ts'
import type { House } from '../compose.ts'
import { type Command, type Invocation, required, table, UsageError, withExistingHouse, withHouse } from './command.ts'

export const keys: Command = {
  name: 'keys',
  usage: [
    'parley keys create --app ID --name NAME [--scope fullAccess|authOnly]',
    'parley keys list --app ID',
    'parley keys revoke --app ID --name NAME',
    'parley keys create --management',
    'parley keys list --management',
    'parley keys revoke --management --key KEY',
  ],
  about: 'Create, list and revoke API keys of an app, or management pairs.',
  options: {
    app: { type: 'string', about: 'The app whose key it is' },
    name: { type: 'string', about: 'What the key is called' },
    scope: { type: 'string', about: 'What it may do: fullAccess or authOnly [authOnly]' },
    management: { type: 'boolean', about: 'A pair for the management API instead of a key of an app' },
    key: { type: 'string', about: 'The key of the pair to revoke' },
  },
  async run(invocation) {
    const managing = invocation.flags.management === true
    switch (invocation.words[0]) {
      case 'create':
        return managing ? createPair(invocation) : create(invocation)
      case 'list':
        return managing ? listPairs(invocation) : list(invocation)
      case 'revoke':
        return managing ? revokePair(invocation) : revoke(invocation)
      default:
        throw new UsageError('Say "keys create", "keys list" or "keys revoke".')
    }
  },
}

async function create(invocation: Invocation) {
  const appId = required(invocation, 'app')
  const name = required(invocation, 'name')
  const scope = invocation.flags.scope ?? 'authOnly'
  if (scope !== 'fullAccess' && scope !== 'authOnly') throw new UsageError('--scope is fullAccess or authOnly.')
  return withExistingHouse(invocation.config, async (house) => {
    await requireApp(house, appId)
    const key = await house.database.write(async (connection) => {
      const row = await addKey(workIn(connection, appId, house.tools), { name, scope, createdBy: 'command line' })
      return toApiKey(row, house.tools.secrets)
    })
    return { text: `${key.apiKey}  ${key.scope}  ${key.name}`, data: key }
  })
}

function createPair({ config }: Invocation) {
  return withHouse(config, async ({ database, tools }) => {
    const pair = await database.write(({ query }) =>
      addManagementKey(query, tools.secrets, config.domain, tools.clock.now()),
    )
    return { text: `key     ${pair.key}\nsecret  ${pair.secret}\nThe secret is not shown again.`, data: pair }
  })
}

function listPairs({ config }: Invocation) {
  return withExistingHouse(config, async ({ database }) => {
    const rows = await database.reader.query
      .selectFrom('management_keys')
      .select(['key', 'created_at'])
      .orderBy('created_at')
      .execute()
    const data = rows.map(({ key, created_at }) => ({ key, createdAt: created_at }))
    return { text: table(data.map(({ key, createdAt }) => [key, new Date(createdAt * 1000).toISOString()])), data }
  })
}

async function revokePair(invocation: Invocation) {
  const key = required(invocation, 'key')
  return withExistingHouse(invocation.config, async ({ database }) => {
    const removed = await database.write(({ query }) =>
      query.deleteFrom('management_keys').where('key', '=', key).returning('key').executeTakeFirst(),
    )
    if (!removed) throw new Error(`There is no management pair with the key ${key}.`)
    return { text: 'The pair is refused from now on.', data: { revoked: key } }
  })
}

async function list(invocation: Invocation) {
  const appId = required(invocation, 'app')
  return withExistingHouse(invocation.config, async (house) => {
    await requireApp(house, appId)
    const { db } = workIn(house.database.reader, appId, house.tools)
    const rows = (await keysOf(db).execute()).map((row) => toApiKey(row, house.tools.secrets))
    return { text: table(rows.map(({ apiKey, scope, name }) => [apiKey, scope, name])), data: rows }
  })
}

async function revoke(invocation: Invocation) {
  const appId = required(invocation, 'app')
  const name = required(invocation, 'name')
  return withExistingHouse(invocation.config, async (house) => {
    await requireApp(house, appId)
    await house.database.write(async (connection) => {
      const work = workIn(connection, appId, house.tools)
      const row = await keysOf(work.db).where('api_keys.name', '=', name).executeTakeFirst()
      if (!row) throw new Error(`The app ${appId} has no key named "${name}".`)
      await removeKey(work, row)
    })
    return { text: `The key "${name}" stops working within a second.`, data: { revoked: name } }
  })
}

async function requireApp({ database }: House, appId: string): Promise<void> {
  const row = await database.reader.query.selectFrom('apps').select('id').where('id', '=', appId).executeTakeFirst()
  if (!row) throw new Error(`There is no app with the id ${appId}.`)
}
