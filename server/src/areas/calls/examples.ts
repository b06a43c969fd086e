/** One call, told through every record that can show it; the reference prints these. */

const placedAt = 1_767_258_000
const sessionId = `v1.us.9f2c41d07be8a635.${placedAt}c1d4e07a9b3f5286ad70`
const mid = 'b5418391-d414-4635-a404-6270cecd6447'

const participant = (uid: string, deviceId: string) => ({
  uid,
  totalAudioMinutes: 0,
  totalVideoMinutes: 2,
  totalDurationInMinutes: 2,
  totalDuration: 2,
  deviceId,
  isJoined: true,
  joinedAt: placedAt + 4,
  leftAt: placedAt + 124,
  state: 'ended',
  mid,
})

export const listedCallExample = {
  sessionId,
  type: 'video',
  mode: 'call',
  receiverType: 'user',
  status: 'ended',
  initiator: 'nora',
  receiver: 'milo',
  initiatedAt: placedAt,
  startedAt: placedAt,
  endedAt: placedAt + 124,
  totalAudioMinutes: 0,
  totalVideoMinutes: 4,
  totalDurationInMinutes: 4,
  totalDuration: '00:04:00',
  totalParticipants: 2,
  hasRecording: false,
  hasTranscription: false,
  mid,
  participants: [participant('nora', 'web-7c1'), participant('milo', 'ios-22')],
}

export const callExample = { ...listedCallExample, metaData: { ticket: 4711 }, tags: ['support'] }

export const transcriptionExample = {
  roomName: sessionId,
  mid,
  tid: 'tr_68c2cadefb5a',
  startTime: placedAt + 4,
  endTime: placedAt + 124,
  transcriptDate: '2026-01-01T09:05:00.000Z',
  transcriptUrl: 'https://transcripts.example/tr_68c2cadefb5a.json',
}

const nora = { kind: 'joined', at: placedAt + 4, uid: 'nora', deviceId: 'web-7c1', mid, cause: 'joined' }

export const explanationExample = {
  sessionId,
  asOf: placedAt + 124,
  facts: [{ number: 3, recordedAt: placedAt + 4, fact: nora }],
  status: [{ status: 'ongoing', at: placedAt + 4, fact: 3, cause: 'answered' }],
  participants: [
    {
      uid: 'nora',
      deviceId: 'web-7c1',
      state: 'ended',
      spans: [
        {
          medium: 'video',
          from: { fact: 3, at: placedAt + 4 },
          to: { fact: 5, at: placedAt + 124 },
          seconds: 120,
        },
      ],
      audioSeconds: 0,
      videoSeconds: 120,
      audioMinutes: '0 s / 60 = 0',
      videoMinutes: '120 s / 60 = 2',
    },
  ],
  totals: {
    audioMinutes: '0 + 0 = 0',
    videoMinutes: '2 + 2 = 4',
    durationInMinutes: '0 audio + 4 video = 4',
    duration: '120 + 120 s = 240 s = 00:04:00',
    participants: '2 entries: one per device that joined, one per user who was rung and did not',
    endedAt: 'fact 7 made the call ended: last participant left',
  },
  notListed: [],
}

const endedAt = placedAt + 124
const file = { startTime: placedAt + 4, endTime: endedAt, url: transcriptionExample.transcriptUrl }

/** How a call stands after a fact, and the fact itself, for each that is told to the world. */
const told: Record<string, { status: string; fact: object }> = {
  initiated: {
    status: 'initiated',
    fact: {
      at: placedAt,
      initiator: 'nora',
      receiver: 'milo',
      receiverType: 'user',
      type: 'video',
      mode: 'call',
      invited: ['milo'],
      tags: ['support'],
      cause: 'placed',
    },
  },
  joined: { status: 'ongoing', fact: nora },
  left: { status: 'ongoing', fact: { at: endedAt, uid: 'nora', deviceId: 'web-7c1', cause: 'left' } },
  rejected: { status: 'rejected', fact: { at: placedAt + 6, uid: 'milo', cause: 'rejected' } },
  canceled: { status: 'canceled', fact: { at: placedAt + 9, cause: 'canceled' } },
  unanswered: { status: 'unanswered', fact: { at: placedAt + 45, cause: 'nobody answered' } },
  ended: { status: 'ended', fact: { at: endedAt, cause: 'last participant left' } },
  recordingStopped: {
    status: 'ongoing',
    fact: {
      at: endedAt,
      rid: 'rec_68c2cadefb5a',
      url: 'https://recordings.example/rec_68c2cadefb5a.mp4',
      cause: 'recording stopped',
    },
  },
  transcribed: {
    status: 'ended',
    fact: { at: endedAt + 60, tid: transcriptionExample.tid, ...file, cause: 'transcribed' },
  },
}

export function eventExample(kind: string) {
  const { status = '', fact = {} } = told[kind] ?? {}
  return { sessionId, mode: 'call', status, members: ['nora', 'milo'], fact: { kind, ...fact } }
}
