import { signOfLife } from '../areas/calls/index.ts'
import { playScript } from '../areas/emulator/index.ts'
import { workIn } from '../common/work-in.ts'
import type { House } from '../compose.ts'

/** Calls that are going on while someone looks at the demo: a meeting in progress, and a call that rings. */

const devices = [
  { uid: 'amara', deviceId: 'mac-3f' },
  { uid: 'kenji', deviceId: 'web-7c1' },
  { uid: 'priya', deviceId: 'ios-22' },
]

/** Begins them; answers how to stop giving signs of life. Without signs the meeting ends by itself, as any call does. */
export async function beginLiveCalls(house: House, appId: string): Promise<() => void> {
  const { database, tools, config } = house
  const meeting = await database.write(async (connection) => {
    const work = workIn(connection, appId, tools)
    await playScript(work, config.region, {
      initiator: 'luis',
      receiver: 'elif',
      type: 'video',
      steps: [{ after: 1, do: 'ring', uid: 'elif' }],
    })
    return playScript(work, config.region, {
      initiator: 'amara',
      receiver: 'design-team',
      receiverType: 'group',
      mode: 'meet',
      type: 'video',
      steps: devices.map((device, n) => ({ after: n * 20, do: 'join', ...device })),
    })
  })
  const beat = setInterval(() => giveSigns(house, appId, meeting), (tools.timings.leaseSeconds * 1000) / 4)
  beat.unref()
  return () => clearInterval(beat)
}

function giveSigns({ tools: { clock, notes } }: House, appId: string, sessionId: string): void {
  for (const { uid, deviceId } of devices) {
    notes.take(signOfLife, appId, { key: [sessionId, uid, deviceId], at: clock.now() })
  }
}
