import { createHmac } from 'node:crypto'
import { isRefusal, JanusSilent, janusErrors } from './client.ts'
import type { RunningJanus } from './process.ts'

/** Follows from the room's name, so that a server that never heard of a room can still remove it. */
export function roomSecret({ adminKey }: Pick<RunningJanus, 'adminKey'>, roomName: string): string {
  return createHmac('sha256', adminKey).update(roomName).digest('base64url')
}

export async function destroyRoom(running: RunningJanus, roomName: string): Promise<void> {
  const request = { request: 'destroy', room: roomName, secret: roomSecret(running, roomName) }
  await running.control.request(request).catch((error) => {
    // It is gone already, or its process is.
    if (!(error instanceof JanusSilent) && !isRefusal(error, janusErrors.noSuchRoom)) throw error
  })
}
