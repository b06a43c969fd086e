import { findKey } from '../areas/api-keys/index.ts'
import { type AppRow, settingsInForce } from '../areas/apps/index.ts'
import type { AppSettings } from '../areas/apps/schemas.ts'
import { findTokenHolder, type TokenHolder } from '../areas/auth-tokens/index.ts'
import type { KeyScope } from '../kit/operation.ts'
import type { Secrets } from '../kit/ports.ts'
import type { Database } from '../storage/database.ts'
import { tenantDb } from '../storage/tenant.ts'

/**
 * Who may enter: apps with their settings, their keys and the tokens of their users, as the doors need them for every
 * request. What was read is kept for less than a second and then read again, so a key or token revoked on one node is
 * refused on all of them without any message between nodes.
 */
const keptMilliseconds = 400
const entriesMax = 20_000

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
  /** Forgets what was read; after a change on this node. */
  forget(): void
}

export function openDirectory(database: Database, secrets: Secrets): Directory {
  const { reader } = database
  const remembered = shortMemory()
  const activeApps = () =>
    reader.query.selectFrom('apps').select(['id', 'region', 'settings', 'created_at']).where('archived_at', 'is', null)
  const toKnown = ({ id, region, settings, created_at }: Stored): KnownApp => ({
    id,
    region,
    settings: settingsInForce(settings),
    createdAt: created_at,
  })

  return {
    app: (id) =>
      remembered(`app ${id}`, async () => {
        const [row] = await activeApps().where('id', '=', id).execute()
        return row && toKnown(row)
      }),
    onlyApp: () =>
      remembered('only app', async () => {
        const [first, second] = await activeApps().limit(2).execute()
        return first && !second ? toKnown(first) : undefined
      }),
    // Remembered by the key itself: a keyed hash for every request costs more than the rest of this check.
    key: (appId, apiKey) =>
      remembered(`key ${appId} ${apiKey}`, () => findKey(tenantDb(reader, appId), secrets.fingerprint(apiKey))),
    tokenHolder: (appId, authToken) =>
      remembered(`token ${appId} ${authToken}`, () =>
        findTokenHolder(tenantDb(reader, appId), secrets.fingerprint(authToken)),
      ),
    forget: remembered.forget,
  }
}

function shortMemory() {
  let entries = new Map<string, Promise<unknown>>()
  let since = 0
  function remembered<T>(name: string, read: () => Promise<T>): Promise<T> {
    const now = performance.now()
    if (now - since > keptMilliseconds || entries.size >= entriesMax) {
      entries = new Map()
      since = now
    }
    const known = entries.get(name)
    if (known) return known as Promise<T>
    const reading = read()
    entries.set(name, reading)
    reading.catch(() => entries.delete(name))
    return reading
  }
  return Object.assign(remembered, {
    forget() {
      entries = new Map()
    },
  })
}
