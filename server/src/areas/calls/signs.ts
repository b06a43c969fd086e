import { sql } from 'kysely'
import { note } from '../../kit/note.ts'
import { prepared, preparedRows, type TenantDb } from '../../storage/tenant.ts'
import type { Course } from './course.ts'
import type { Sign } from './rules.ts'
import { isFinal } from './state.ts'
import type { CallSignRow } from './tables.ts'

/**
 * When the devices in live calls were last heard of. A device gets its row in the transaction in which it joins, and loses
 * it in the one in which it leaves; in between, signs of life only move its time. So they need neither the call's row nor
 * its lock, and of a call that is over nothing can be noted.
 * Whoever changes or removes several holds them first, in the order of their key, so that nobody waits in a circle.
 */

type SignRow = Omit<CallSignRow, 'app_id'>

/** A device has been heard of; the key is its call, its user and itself. Many of these are written down together. */
export const signOfLife = note({
  name: 'calls.signOfLife',
  async write(db, moments) {
    const told = moments.map(({ key: [sessionId, uid, deviceId], at }) => [sessionId, uid, deviceId, at])
    const rows = sql.join(told.map(([sessionId, uid, deviceId]) => sql`(${sessionId}, ${uid}, ${deviceId})`))
    await db.sql`SELECT 1 FROM call_signs
      WHERE app_id = ${db.appId} AND (session_id, uid, device_id) IN (VALUES ${rows})
      ORDER BY session_id, uid, device_id ${db.holdRows}`.execute()
    const dated = sql.join(
      told.map(([sessionId, uid, deviceId, at]) => sql`(${sessionId}, ${uid}, ${deviceId}, CAST(${at} AS bigint))`),
    )
    await db.sql`WITH told (session_id, uid, device_id, seen_at) AS (VALUES ${dated})
      UPDATE call_signs SET seen_at = told.seen_at FROM told
      WHERE call_signs.app_id = ${db.appId} AND call_signs.session_id = told.session_id AND call_signs.uid = told.uid
        AND call_signs.device_id = told.device_id AND call_signs.seen_at < told.seen_at`.execute()
  },
})

const rowsOfCall = prepared<{ sessionId: string }, SignRow>((db, { sessionId }) =>
  db
    .select('call_signs')
    .select(['call_signs.session_id', 'call_signs.uid', 'call_signs.device_id', 'call_signs.seen_at'])
    .where('call_signs.session_id', '=', sessionId),
)

export async function signsOf(db: TenantDb, sessionId: string): Promise<Sign[]> {
  const rows = await rowsOfCall(db, { sessionId })
  return rows.map((row) => ({ uid: row.uid, deviceId: row.device_id, seenAt: row.seen_at }))
}

const signOfDevice = prepared<{ sessionId: string; uid: string; deviceId: string }, { seen_at: number }>((db, value) =>
  db
    .select('call_signs')
    .select('call_signs.seen_at')
    .where('call_signs.session_id', '=', value.sessionId)
    .where('call_signs.uid', '=', value.uid)
    .where('call_signs.device_id', '=', value.deviceId),
)

/** Whether a device is in a call, as far as anybody has noticed. */
export async function isThere(
  db: TenantDb,
  device: { sessionId: string; uid: string; deviceId: string },
): Promise<boolean> {
  return (await signOfDevice(db, device)).length > 0
}

/** Gives devices that have come a row, and takes it from those that have gone; under the lock of the call. */
export async function keepSigns(
  db: TenantDb,
  sessionId: string,
  before: readonly Sign[],
  course: Course,
): Promise<void> {
  const { signs } = course
  const gone = missingIn(signs, before)
  const come = missingIn(before, signs)
  if (gone.length > 0) await removeSigns(db, sessionId, isFinal(course.state.status) ? undefined : gone)
  if (come.length > 0)
    await addSigns(
      db,
      come.map((sign) => toRow(sessionId, sign)),
    )
}

const addSigns = preparedRows<SignRow, never>((db, rows) => db.insert('call_signs', rows))

/** Takes the rows of some devices, or of all of a call. */
async function removeSigns(db: TenantDb, sessionId: string, gone: Sign[] | undefined): Promise<void> {
  await db
    .select('call_signs')
    .select('call_signs.uid')
    .where('call_signs.session_id', '=', sessionId)
    .orderBy('call_signs.uid')
    .orderBy('call_signs.device_id')
    .modifyEnd(db.holdRows)
    .execute()
  const rows = db.delete('call_signs').where('session_id', '=', sessionId)
  if (!gone) {
    await rows.execute()
    return
  }
  for (const { uid, deviceId } of gone) await rows.where('uid', '=', uid).where('device_id', '=', deviceId).execute()
}

function toRow(sessionId: string, { uid, deviceId, seenAt }: Sign): SignRow {
  return { session_id: sessionId, uid, device_id: deviceId, seen_at: seenAt }
}

function missingIn(list: readonly Sign[], wanted: readonly Sign[]): Sign[] {
  const keys = new Set(list.map(keyOf))
  return wanted.filter((sign) => !keys.has(keyOf(sign)))
}

function keyOf({ uid, deviceId }: Sign): string {
  return JSON.stringify([uid, deviceId])
}
