import type { Script } from '../areas/emulator/index.ts'

/** A month of calls in a small company: every type, mode, status and receiver, several devices, recordings. */

const daySeconds = 24 * 3600
const days = 30
const minute = 60

const people = ['nora', 'milo', 'amara', 'kenji', 'priya', 'luis', 'elif', 'jonas', 'wanjiru', 'mei']
const groups = ['design-team', 'support', 'all-hands']
const devices = ['web-7c1', 'ios-22', 'android-9', 'mac-3f']

type Story = (n: number) => Script

const at = (list: readonly string[], n: number) => list[n % list.length] ?? ''

/** The stories in turn, spread over the last 30 days and ending before now. */
export function demoCalls(now: number): Script[] {
  const count = stories.length * 6
  return Array.from({ length: count }, (_, n) => {
    const story = stories[n % stories.length] as Story
    const script = story(n)
    const age = Math.floor(((count - n) * days * daySeconds) / (count + 1))
    // Working hours look better than an even spread, and no two calls begin in the same second.
    const startAt = now - age + ((n * 617) % 3600)
    return { ...script, startAt: Math.min(startAt, now - lengthOf(script) - minute * 10) }
  })
}

function lengthOf({ steps }: Script): number {
  return Math.max(0, ...steps.map(({ after }) => after))
}

function pair(n: number): { initiator: string; receiver: string } {
  return { initiator: at(people, n), receiver: at(people, n + 1 + (n % 3)) }
}

const stories: Story[] = [
  function answeredVideo(n) {
    const { initiator, receiver } = pair(n)
    const talk = minute * (3 + (n % 20))
    return {
      initiator,
      receiver,
      type: 'video',
      steps: [
        { after: 1, do: 'ring', uid: receiver },
        { after: 4, do: 'join', uid: initiator, deviceId: 'web-7c1' },
        { after: 6, do: 'join', uid: receiver, deviceId: at(devices, n) },
        { after: talk / 2, do: 'cameraOff', uid: receiver, deviceId: at(devices, n) },
        { after: talk, do: 'leave', uid: receiver, deviceId: at(devices, n) },
        { after: talk + 2, do: 'leave', uid: initiator, deviceId: 'web-7c1' },
      ],
    }
  },
  function answeredAudio(n) {
    const { initiator, receiver } = pair(n)
    return {
      initiator,
      receiver,
      type: 'audio',
      steps: [
        { after: 5, do: 'join', uid: initiator, deviceId: 'ios-22' },
        { after: 7, do: 'join', uid: receiver, deviceId: 'android-9' },
        { after: 95 + n, do: 'end' },
      ],
    }
  },
  function twoDevices(n) {
    const { initiator, receiver } = pair(n)
    return {
      initiator,
      receiver,
      type: 'video',
      tags: ['review'],
      metaData: { topic: 'Quarterly figures' },
      steps: [
        { after: 3, do: 'join', uid: initiator, deviceId: 'mac-3f' },
        { after: 4, do: 'join', uid: receiver, deviceId: 'ios-22' },
        { after: 60, do: 'join', uid: receiver, deviceId: 'web-7c1', camera: false },
        { after: 80, do: 'startRecording' },
        { after: 90, do: 'leave', uid: receiver, deviceId: 'ios-22' },
        { after: 700, do: 'stopRecording' },
        { after: 720, do: 'leave', uid: receiver, deviceId: 'web-7c1' },
        { after: 721, do: 'leave', uid: initiator, deviceId: 'mac-3f' },
        { after: 900, do: 'transcribe' },
      ],
    }
  },
  (n) => ({ ...pair(n), type: 'audio', steps: [{ after: 9, do: 'reject', uid: pair(n).receiver }] }),
  (n) => ({ ...pair(n), type: 'video', steps: [{ after: 2, do: 'reject', uid: pair(n).receiver, busy: true }] }),
  (n) => ({ ...pair(n), type: 'video', steps: [{ after: 12, do: 'cancel' }] }),
  (n) => ({ ...pair(n), type: 'audio', steps: [{ after: 1, do: 'ring', uid: pair(n).receiver }] }),
  function groupCall(n) {
    const [host, second, third, absent] = [0, 1, 2, 3].map((k) => at(people, n + k)) as [string, string, string, string]
    return {
      initiator: host,
      receiver: at(groups, n),
      receiverType: 'group',
      type: 'video',
      invited: [second, third, absent],
      steps: [
        { after: 2, do: 'join', uid: host, deviceId: 'mac-3f' },
        { after: 8, do: 'join', uid: second, deviceId: 'web-7c1' },
        { after: 15, do: 'join', uid: third, deviceId: 'ios-22', camera: false },
        { after: 20, do: 'reject', uid: absent },
        { after: 300, do: 'cameraOn', uid: third, deviceId: 'ios-22' },
        { after: 1500, do: 'leave', uid: second, deviceId: 'web-7c1' },
        { after: 1800, do: 'end' },
      ],
    }
  },
  (n) => ({
    initiator: at(people, n),
    receiver: at(groups, n),
    receiverType: 'group',
    type: 'audio',
    invited: [at(people, n + 1), at(people, n + 2)],
    steps: [],
  }),
  function meeting(n) {
    const host = at(people, n)
    const guests = [1, 2, 3, 4].map((k) => at(people, n + k))
    return {
      initiator: host,
      receiver: at(groups, n + 1),
      receiverType: 'group',
      type: 'video',
      mode: 'meet',
      steps: [
        { after: 0, do: 'join', uid: host, deviceId: 'web-7c1' },
        ...guests.map((uid, k) => ({ after: 30 * (k + 1), do: 'join' as const, uid, deviceId: at(devices, k) })),
        { after: 200, do: 'startRecording' },
        { after: 2600, do: 'stopRecording' },
        ...guests.map((uid, k) => ({ after: 2700 + k, do: 'leave' as const, uid, deviceId: at(devices, k) })),
        { after: 2710, do: 'leave', uid: host, deviceId: 'web-7c1' },
      ],
    }
  },
  function presentation(n) {
    const host = at(people, n)
    const audience = [1, 2, 3, 4, 5].map((k) => at(people, n + k))
    return {
      initiator: host,
      receiver: 'all-hands',
      receiverType: 'group',
      type: 'video',
      mode: 'presenter',
      steps: [
        { after: 0, do: 'join', uid: host, deviceId: 'mac-3f' },
        ...audience.map((uid, k) => ({
          after: 5 + k,
          do: 'join' as const,
          uid,
          deviceId: at(devices, k),
          camera: false,
        })),
        { after: 3000, do: 'end' },
      ],
    }
  },
  function lostConnection(n) {
    const { initiator, receiver } = pair(n)
    return {
      initiator,
      receiver,
      type: 'audio',
      steps: [
        { after: 4, do: 'join', uid: initiator, deviceId: 'android-9' },
        { after: 6, do: 'join', uid: receiver, deviceId: 'web-7c1' },
        { after: 240, do: 'vanish', uid: receiver, deviceId: 'web-7c1' },
        { after: 320, do: 'leave', uid: initiator, deviceId: 'android-9' },
      ],
    }
  },
]
