import type { AppFacts } from '../../kit/work.ts'
import { platformUnder } from '../../storage/platform.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { AppSettings, settableKeys } from './schemas.ts'

declare module '../../kit/work.ts' {
  interface Settings extends AppSettings {}
}

/** What an app is set to. Only what somebody has set is stored; all else is as it usually is. */

export type StoredSettings = Partial<AppSettings>

export const usualSettings = Object.freeze(
  Object.fromEntries(
    Object.entries(AppSettings.properties).map(([key, schema]) => [key, (schema as { default?: unknown }).default]),
  ),
) as AppSettings

/** What is stored of an app's settings. */
export function readSettings(stored: string | null): StoredSettings {
  return stored === null ? {} : JSON.parse(stored)
}

/** What is in force, in the order of the catalogue. */
export function settingsInForce(stored: string | null): AppSettings {
  return stored === null ? usualSettings : { ...usualSettings, ...readSettings(stored) }
}

/** What stands against setting a key, or against setting it to this; all that can be set today is on or off. */
export function problemWith(key: string, value: unknown = true): string | undefined {
  if (!Object.hasOwn(usualSettings, key)) return 'is no setting'
  if (!settableKeys.has(key)) return 'can only be read'
  return typeof value === 'boolean' ? undefined : 'must be true or false'
}

/** What the app is set to, and when it was created, as it is stored. */
export async function factsOf(db: TenantDb): Promise<AppFacts> {
  const apps = platformUnder(db).selectFrom('apps')
  const app = await apps.select(['settings', 'created_at']).where('id', '=', db.appId).executeTakeFirst()
  return { settings: settingsInForce(app?.settings ?? null), createdAt: app?.created_at ?? 0 }
}
