import { quotaReached } from '../../common/refusals.ts'
import type { CallState } from '../calls/index.ts'

/** Their devices that are in the call. */
export function devicesOf({ entries }: CallState, uid: string): string[] {
  return entries.flatMap((entry) =>
    entry.uid === uid && entry.state === 'ongoing' && entry.deviceId !== undefined ? [entry.deviceId] : [],
  )
}

// A call has room for fifty devices; whoever comes with ever new ones leaves some to others.
const devicesPerUserMax = 10

/** Refuses a device of somebody who has come with many others already. */
export function refuseOneMore({ entries }: CallState, uid: string, deviceId: string): void {
  const own = entries.filter((entry) => entry.uid === uid && entry.deviceId !== undefined)
  if (own.length < devicesPerUserMax || own.some((entry) => entry.deviceId === deviceId)) return
  throw quotaReached({ limit: `${devicesPerUserMax} devices of a user in a call` })
}
