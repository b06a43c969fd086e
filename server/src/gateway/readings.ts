import { isAnyRuled, showsTo } from '../dispatch/hearing.ts'
import type { Area } from '../kit/area.ts'
import { channelOf, type Shows } from '../kit/channel.ts'
import type { Database } from '../storage/database.ts'
import { type TenantDb, tenantDb } from '../storage/tenant.ts'

/** What is read about users when it is needed, each in the line of their app. */
export interface Readings {
  inApp<T>(appId: string, work: (db: TenantDb) => Promise<T>): Promise<T>
  /** What a user may be shown; all, if nothing is answered. */
  shows(appId: string, uid: string): Promise<Shows | undefined>
  /** Whether what is shown in one of these channels depends on what somebody is in it: once they have left, nobody knows. */
  areRuled(appId: string, channels: string[]): Promise<boolean>
}

export function createReadings(database: Database, areas: Area[]): Readings {
  const inApp: Readings['inApp'] = (appId, work) =>
    database.read((connection) => work(tenantDb(connection, appId)), appId)
  return {
    inApp,
    shows: (appId, uid) => inApp(appId, (db) => showsTo(areas, db, uid)),
    areRuled: async (appId, channels) =>
      channels.length > 0 && inApp(appId, (db) => isAnyRuled(areas, db, [...new Set(channels)].map(channelOf))),
  }
}
