import { findKey } from '../areas/api-keys/index.ts'
import { type AppRow, settingsInForce } from '../areas/apps/index.ts'
import type { AppSettings } from '../areas/apps/schemas.ts'
import { findTokenHolder, type TokenHolder } from '../areas/auth-tokens/index.ts'
import type { KeyScope } from '../kit/operation.ts'
import type { Secrets } from '../kit/ports.ts'
import type { Connection } from '../storage/connection.ts'
import type { Database } from '../storage/database.ts'
import { tenantDb } from '../storage/tenant.ts'

/**
 * Who may enter: apps with their settings, their keys and the tokens of their users, as the doors need them for every
 * request. What was read is kept for less than a second and then read again, so a key or token revoked on one node is
 * refused on all of them without any message between nodes.
 */
const keptMilliseconds = 400
// Of each app, so that whatever is tried at one of them pushes out nobody at another.
const entriesMax = 5_000

export interface KnownApp {
  id: string
  region: string
  settings: AppSettings
  createdAt: number
}

type Stored = Pick<AppRow, 'id' | 'region' | 'settings' | 'created_at'>

export interface KnownKey {
  fingerprint: string
  scope: KeyScope
}

export interface Directory {
  app(id: string): Promise<KnownApp | undefined>
  /** The install's app, if it has exactly one. */
  onlyApp(): Promise<KnownApp | undefined>
  key(appId: string, apiKey: string): Promise<KnownKey | undefined>
  /** The active user whom an auth token lets in. */
  tokenHolder(appId: string, authToken: string): Promise<TokenHolder | undefined>
  /** Forgets what was read of an app, or of all; after a change on this node. */
  forget(appId?: string): void
}

export function openDirectory(database: Database, secrets: Secrets, milliseconds = () => performance.now()): Directory {
  const { reader } = database
  const memory = shortMemory(milliseconds)
  const toKnown = ({ id, region, settings, created_at }: Stored): KnownApp => ({
    id,
    region,
    settings: settingsInForce(settings),
    createdAt: created_at,
  })
  /** What is read for these waits only for their own. Whoever names an app that is not there takes no turn of one that is. */
  const seen = new Set<string>()

  async function findApp(id: string): Promise<KnownApp | undefined> {
    const find = (connection: Connection) => activeApps(connection).where('id', '=', id).execute()
    const [row] = await (seen.has(id) ? database.read(find, id) : find(reader))
    if (row) seen.add(id)
    else seen.delete(id)
    return row && toKnown(row)
  }

  return {
    app: (id) => memory.remembered(id, 'app', () => findApp(id)),
    onlyApp: () =>
      memory.remembered(everyApp, 'only', async () => {
        const [first, second] = await activeApps(reader).limit(2).execute()
        return first && !second ? toKnown(first) : undefined
      }),
    // Remembered by the key itself: a keyed hash for every request costs more than the rest of this check.
    key: (appId, apiKey) =>
      memory.remembered(appId, `key ${apiKey}`, () =>
        database.read((connection) => findKey(tenantDb(connection, appId), secrets.fingerprint(apiKey)), appId),
      ),
    tokenHolder: (appId, authToken) =>
      memory.remembered(appId, `token ${authToken}`, () =>
        database.read(
          (connection) => findTokenHolder(tenantDb(connection, appId), secrets.fingerprint(authToken)),
          appId,
        ),
      ),
    forget: memory.forget,
  }
}

const activeApps = ({ query }: Connection) =>
  query.selectFrom('apps').select(['id', 'region', 'settings', 'created_at']).where('archived_at', 'is', null)

/** No app has this id. */
const everyApp = ''

interface Memory {
  entries: Map<string, Promise<unknown>>
  since: number
}

function shortMemory(milliseconds: () => number) {
  const memories = new Map<string, Memory>()

  function memoryOf(appId: string): Map<string, Promise<unknown>> {
    const now = milliseconds()
    const known = memories.get(appId)
    if (known && now - known.since <= keptMilliseconds && known.entries.size < entriesMax) return known.entries
    dropExpired(now)
    const entries = new Map<string, Promise<unknown>>()
    memories.delete(appId)
    memories.set(appId, { entries, since: now })
    return entries
  }

  /** The oldest come first: what an app leaves behind that nobody asks for again goes with the next one that is. */
  function dropExpired(now: number): void {
    for (const [appId, { since }] of memories) {
      if (now - since <= keptMilliseconds) return
      memories.delete(appId)
    }
  }

  return {
    remembered<T>(appId: string, name: string, read: () => Promise<T>): Promise<T> {
      const entries = memoryOf(appId)
      const known = entries.get(name)
      if (known) return known as Promise<T>
      const reading = read()
      entries.set(name, reading)
      reading.catch(() => entries.delete(name))
      return reading
    },
    forget(appId?: string): void {
      if (appId === undefined) memories.clear()
      else memories.delete(appId)
    },
  }
}
