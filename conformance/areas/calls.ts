import {
  type Check,
  type CheckedArea,
  check,
  data,
  equal,
  failure,
  holds,
  isSeconds,
  NotSeen,
  refusals,
  type Server,
  success,
} from '../check.ts'
import type { Caller } from '../client.ts'

const words = {
  type: ['audio', 'video'],
  mode: ['call', 'meet', 'presenter'],
  status: ['initiated', 'ongoing', 'ended', 'unanswered', 'rejected', 'canceled'],
  receiverType: ['user', 'group'],
}
const finalStates = ['ended', 'unanswered', 'rejected', 'canceled']
const unknownSession = 'v1.us.0000000000000000.1767225600none'

/** A call as the answers show it; whatever a server leaves out is `undefined`. */
// biome-ignore lint/suspicious/noExplicitAny: the other side may answer anything
type Call = any

/** Some calls to look at; the newest first. */
async function someCalls({ calls }: Server, search = ''): Promise<Call[]> {
  const list = data(await calls.get(`/calls?perPage=200${search}`))
  if (list.length === 0) throw new NotSeen('the server has no such calls')
  return list
}

const totalOf = async ({ calls }: Server, search: string): Promise<number> =>
  success(await calls.get(`/calls?perPage=1${search}`)).meta.pagination.total

function partOf(call: Call, uid: string): boolean {
  return (
    call.initiator === uid ||
    (call.receiverType === 'user' && call.receiver === uid) ||
    call.participants.some((entry: Call) => entry.uid === uid)
  )
}

const closeTo = (a: number, b: number) => Math.abs(a - b) < 1e-6
const sumOf = (entries: Call[], name: string) => entries.reduce((sum, entry) => sum + entry[name], 0)

const filters: Check[] = [
  ...Object.entries(words).map(([name, values]) =>
    check(
      '2 Query parameters',
      `${name} keeps only calls of that ${name}, and the values share out all calls`,
      async (server) => {
        const span = `&endedAt=${(await someCalls(server, '&status=ended'))[0].endedAt}`
        let sum = 0
        for (const value of values) {
          const list = data(await server.calls.get(`/calls?perPage=200&${name}=${value}`))
          holds(
            list.every((call: Call) => call[name] === value),
            `only calls whose ${name} is ${value}`,
          )
          sum += await totalOf(server, `${span}&${name}=${value}`)
        }
        equal(sum, await totalOf(server, span), `the sum over every ${name}`)
      },
    ),
  ),
  check('2 Query parameters', 'participantsCount compares totalParticipants', async (server) => {
    const [{ totalParticipants }] = await someCalls(server)
    const list = await someCalls(server, `&participantsCount=${totalParticipants}`)
    holds(
      list.every((call) => call.participants.length === totalParticipants),
      `${totalParticipants} entries each`,
    )
  }),
  ...['hasRecording', 'hasTranscription'].map((name) =>
    check('2 Query parameters', `${name} keeps calls that have one, or that have none`, async ({ calls }) => {
      for (const value of [true, false]) {
        const list = data(await calls.get(`/calls?perPage=200&${name}=${value}`))
        holds(
          list.every((call: Call) => call[name] === value),
          `only calls whose ${name} is ${value}`,
        )
      }
    }),
  ),
  check(
    '2 Query parameters',
    'uid finds callers, called users and participants, in any letter case',
    async (server) => {
      const list = await someCalls(server)
      const { initiator } = list[0]
      const found = await someCalls(server, `&uid=${initiator.toUpperCase()}`)
      holds(
        found.every((call) => partOf(call, initiator)),
        `only calls ${initiator} is part of`,
      )
      const expected = list.filter((call) => partOf(call, initiator)).map(({ sessionId }) => sessionId)
      const ids = new Set(found.map(({ sessionId }) => sessionId))
      holds(
        expected.every((id) => ids.has(id)),
        `every call ${initiator} is part of`,
      )
    },
  ),
  check(
    '2 Query parameters',
    'startedAt and endedAt are inclusive bounds; calls not ended are left out',
    async (server) => {
      const [{ startedAt, endedAt, sessionId }] = await someCalls(server, '&status=ended')
      const list = await someCalls(server, `&startedAt=${startedAt}&endedAt=${endedAt}`)
      holds(
        list.some((call) => call.sessionId === sessionId),
        'the call itself lies within its own bounds',
      )
      holds(
        list.every((call) => call.startedAt >= startedAt && call.endedAt <= endedAt),
        'only calls within the bounds',
      )
    },
  ),
  check('2 Query parameters', 'filters combine with and', async (server) => {
    const list = data(await server.calls.get('/calls?type=video&status=ended&receiverType=user&perPage=200'))
    holds(
      list.every((call: Call) => call.type === 'video' && call.status === 'ended' && call.receiverType === 'user'),
      'only ended video calls to users',
    )
  }),
  check('2 Query parameters', 'hideTranscription leaves transcriptions out and hasTranscription in', async (server) => {
    const list = await someCalls(server, '&hasTranscription=true&hideTranscription=true')
    holds(
      list.every((call) => call.hasTranscription && !('transcriptions' in call)),
      'no `transcriptions`',
    )
  }),
  ...Object.keys(words).map((name) =>
    check('2 Query parameters', `a ${name} that does not exist matches nothing`, async ({ calls }) => {
      equal(data(await calls.get(`/calls?${name}=none-such`)), [], 'the calls')
    }),
  ),
  ...refusals(
    '2 Query parameters',
    ['participantsCount', 'startedAt', 'endedAt', 'hasRecording', 'hasTranscription', 'hideTranscription'].map(
      (field) => ({
        expects: `${field}=abc`,
        path: `/calls?${field}=abc`,
        status: 400,
        code: 'ERR_BAD_REQUEST',
        field,
      }),
    ),
    'calls',
  ),
  check('2 Query parameters', 'newest initiation first, then by sessionId', async (server) => {
    const list = await someCalls(server)
    const sorted = list.toSorted((a, b) => b.initiatedAt - a.initiatedAt || (a.sessionId < b.sessionId ? -1 : 1))
    equal(
      list.map(({ sessionId }) => sessionId),
      sorted.map(({ sessionId }) => sessionId),
      'the order',
    )
  }),
  check('2 Query parameters', 'pages neither repeat nor leave out a call', async (server) => {
    const [{ endedAt }] = await someCalls(server, '&status=ended')
    const whole = await someCalls(server, `&endedAt=${endedAt}`)
    const seen: string[] = []
    for (let page = 1; seen.length < Math.min(whole.length, 30); page += 1) {
      const list = data(await server.calls.get(`/calls?endedAt=${endedAt}&perPage=7&page=${page}`))
      if (list.length === 0) break
      seen.push(...list.map((call: Call) => call.sessionId))
    }
    equal(
      seen,
      whole.slice(0, seen.length).map(({ sessionId }) => sessionId),
      'the calls, page by page',
    )
  }),
]

const texts = ['sessionId', 'type', 'mode', 'receiverType', 'status', 'initiator', 'receiver', 'totalDuration']
const minutes = ['totalAudioMinutes', 'totalVideoMinutes', 'totalDurationInMinutes']

function lookAtRecord(call: Call): void {
  const at = call.sessionId
  for (const name of texts) holds(typeof call[name] === 'string', `\`${name}\` is a string (${at})`)
  for (const name of minutes) holds(call[name] >= 0, `\`${name}\` is a number of minutes (${at})`)
  for (const [name, values] of Object.entries(words)) holds(values.includes(call[name]), `\`${name}\` is known (${at})`)
  holds(isSeconds(call.initiatedAt), `\`initiatedAt\` is in UNIX seconds (${at})`)
  equal(call.startedAt, call.initiatedAt, `\`startedAt\` of ${at}`)
  equal('endedAt' in call, finalStates.includes(call.status), `whether ${at} (${call.status}) has \`endedAt\``)
  equal(call.totalParticipants, call.participants.length, `\`totalParticipants\` of ${at}`)
  equal('recordings' in call, call.hasRecording, `whether ${at} has \`recordings\``)
  holds(typeof call.hasTranscription === 'boolean', `\`hasTranscription\` is a boolean (${at})`)
  holds(!Object.values(call).includes(null), `no property is null (${at})`)
}

function lookAtSums(call: Call): void {
  const at = call.sessionId
  const { totalAudioMinutes, totalVideoMinutes, totalDurationInMinutes } = call
  holds(closeTo(sumOf(call.participants, 'totalAudioMinutes'), totalAudioMinutes), `audio minutes add up (${at})`)
  holds(closeTo(sumOf(call.participants, 'totalVideoMinutes'), totalVideoMinutes), `video minutes add up (${at})`)
  holds(
    closeTo(totalAudioMinutes + totalVideoMinutes, totalDurationInMinutes),
    `audio and video make the total (${at})`,
  )
  const seconds = Math.round(totalDurationInMinutes * 60)
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  equal(call.totalDuration, parts.map((part) => String(part).padStart(2, '0')).join(':'), `\`totalDuration\` of ${at}`)
}

function lookAtEntry(entry: Call, call: Call): void {
  const at = `${entry.uid} in ${call.sessionId}`
  holds(typeof entry.uid === 'string', `\`uid\` is a string (${at})`)
  holds(['ongoing', 'ended', 'unanswered', 'rejected'].includes(entry.state), `\`state\` is known (${at})`)
  equal(entry.totalDuration, entry.totalDurationInMinutes, `\`totalDuration\` of ${at}`)
  holds(
    closeTo(entry.totalAudioMinutes + entry.totalVideoMinutes, entry.totalDurationInMinutes),
    `audio and video make the total (${at})`,
  )
  if (entry.isJoined) {
    holds(typeof entry.deviceId === 'string' && isSeconds(entry.joinedAt), `\`deviceId\` and \`joinedAt\` (${at})`)
    equal(entry.mid, call.mid, `\`mid\` of ${at}`)
  } else {
    const extra = ['deviceId', 'joinedAt', 'leftAt', 'mid'].filter((name) => name in entry)
    equal([extra, entry.totalDurationInMinutes], [[], 0], `properties and minutes of ${at}, who never joined`)
  }
}

const records: Check[] = [
  check('3 Call record', 'every call has the properties the contract lists, of their types', async (server) => {
    for (const call of await someCalls(server)) lookAtRecord(call)
  }),
  check(
    '3 Call record',
    'the minutes of a call are the sums over its entries, and totalDuration is their clock form',
    async (server) => {
      for (const call of await someCalls(server)) lookAtSums(call)
    },
  ),
  check('3 Call record', 'metaData and tags are shown by get only', async (server) => {
    const [{ sessionId, ...listed }] = await someCalls(server)
    equal(['metaData' in listed, 'tags' in listed], [false, false], 'whether the list shows metaData and tags')
    const { metaData, tags } = data(await server.calls.get(`/calls/${sessionId}`))
    holds(typeof metaData === 'object' && Array.isArray(tags), '`metaData` and `tags` in the one call')
  }),
  check('4 Participant entry', 'who joined has a device and times, who did not has neither', async (server) => {
    for (const call of await someCalls(server)) for (const entry of call.participants) lookAtEntry(entry, call)
  }),
  check('4 Participant entry', 'a user has one entry per device', async (server) => {
    for (const { participants, sessionId } of await someCalls(server)) {
      const pairs = participants.map((entry: Call) => `${entry.uid} ${entry.deviceId ?? ''}`)
      equal(new Set(pairs).size, pairs.length, `the number of different users and devices in ${sessionId}`)
    }
  }),
  check('5 Recording', 'a recording has rid, duration, startTime, endTime and recording_url', async (server) => {
    for (const { recordings } of await someCalls(server, '&hasRecording=true')) {
      holds(recordings.length > 0, 'at least one recording')
      for (const { rid, duration, startTime, endTime, recording_url } of recordings) {
        holds(typeof rid === 'string' && URL.canParse(recording_url), '`rid` and `recording_url`')
        holds(duration >= 0 && isSeconds(startTime) && isSeconds(endTime), '`duration`, `startTime` and `endTime`')
      }
    }
  }),
  check('6 Transcription', 'transcripts are listed newest first, with their file', async (server) => {
    const [{ sessionId, transcriptions }] = await someCalls(server, '&hasTranscription=true')
    holds(transcriptions.length >= 1 && transcriptions.length <= 5, 'one to five transcripts in the call')
    const { data: list, meta } = success(await server.calls.get(`/calls/${sessionId}/transcriptions`))
    equal([meta.pagination.count, meta.pagination.per_page], [list.length, 100], 'count and per_page')
    for (const { tid, transcriptUrl, startTime, endTime, transcriptDate } of list) {
      holds(typeof tid === 'string' && URL.canParse(transcriptUrl), '`tid` and `transcriptUrl`')
      holds(isSeconds(startTime) && isSeconds(endTime), '`startTime` and `endTime`')
      holds(!Number.isNaN(Date.parse(transcriptDate)), '`transcriptDate` is a date')
    }
  }),
  check('6 Transcription', 'a call without transcripts has an empty list', async (server) => {
    const [{ sessionId }] = await someCalls(server, '&hasTranscription=false')
    equal(data(await server.calls.get(`/calls/${sessionId}/transcriptions`)), [], 'the transcripts')
  }),
  check('7 Envelopes', 'get answers the same record as the list, under data', async (server) => {
    const [listed] = await someCalls(server, '&status=ended')
    const { metaData: _, tags: __, ...record } = data(await server.calls.get(`/calls/${listed.sessionId}`))
    equal(record, listed, 'the record')
  }),
]

const edges: Check[] = [
  check('9 Edge cases', 'with onBehalfOf a list holds only calls the user is part of', async (server) => {
    const uid = await someoneKnown(server)
    for (const call of data(await server.calls.get('/calls?perPage=200', { onBehalfOf: uid.toUpperCase() }))) {
      holds(partOf(call, uid), `only calls ${uid} is part of`)
    }
  }),
  check('9 Edge cases', 'onBehalfOf and uid: calls both are part of', async (server) => {
    const uid = await someoneKnown(server)
    const other = (await someCalls(server, `&uid=${uid}`)).flatMap(({ participants }) => participants)[0].uid
    for (const call of data(await server.calls.get(`/calls?perPage=200&uid=${other}`, { onBehalfOf: uid }))) {
      holds(partOf(call, uid) && partOf(call, other), `only calls of ${uid} and ${other}`)
    }
  }),
  check('9 Edge cases', 'a call the acting user has no part in: 404 ERR_CALL_SESSION_NOT_FOUND', async (server) => {
    const uid = await someoneKnown(server)
    const foreign = (await someCalls(server)).find((call) => !partOf(call, uid))
    if (!foreign) throw new NotSeen(`${uid} is part of every call looked at`)
    const answer = await server.calls.get(`/calls/${foreign.sessionId}`, { onBehalfOf: uid })
    failure(answer, 404, 'ERR_CALL_SESSION_NOT_FOUND')
  }),
  check('9 Edge cases', 'uid of an unknown user: an empty list', async ({ calls, fresh }) => {
    equal(data(await calls.get(`/calls?uid=${fresh('ghost')}`)), [], 'the calls')
  }),
  check('9 Edge cases', '/calls/ is /calls', async ({ calls }) => {
    holds(Array.isArray(data(await calls.get('/calls/?perPage=1'))), 'a list')
  }),
  check('9 Edge cases', 'a session id is compared exactly', async (server) => {
    const [{ sessionId }] = await someCalls(server)
    failure(await server.calls.get(`/calls/${sessionId.toUpperCase()}`), 404, 'ERR_CALL_SESSION_NOT_FOUND')
  }),
  ...refusals(
    '10 Errors',
    [
      { expects: 'an unknown call', path: `/calls/${unknownSession}`, status: 404, code: 'ERR_CALL_SESSION_NOT_FOUND' },
      {
        expects: 'transcripts of an unknown call',
        path: `/calls/${unknownSession}/transcriptions`,
        status: 404,
        code: 'ERR_CALL_SESSION_NOT_FOUND',
      },
    ],
    'calls',
  ),
  check('10 Errors', 'an authOnly key: 403 AUTH_ERR_NO_ACCESS', async ({ connection, callsUrl, authKey }) => {
    failure(await connection.caller(callsUrl, { apikey: authKey }).get('/calls'), 403, 'AUTH_ERR_NO_ACCESS')
  }),
]

/** Somebody with calls who still exists. */
async function someoneKnown(server: Server): Promise<string> {
  for (const uid of new Set((await someCalls(server)).map(({ initiator }) => initiator))) {
    const { status } = await server.calls.get('/calls?perPage=1', { onBehalfOf: uid })
    if (status === 200) return uid
  }
  throw new NotSeen('none of the callers is an active user')
}

/** The emulator's door, where there is one. */
async function emulatorOf({ connection, url, apiKey }: Server): Promise<Caller> {
  const emulator = connection.caller(`${new URL(url).origin}/_emulator`, { apikey: apiKey })
  if ((await emulator.get('/clock')).status !== 200) throw new NotSeen('the server has no emulator door')
  return emulator
}

/** Plays a call between two. */
async function played(server: Server, script: object): Promise<Call> {
  const emulator = await emulatorOf(server)
  const [initiator, receiver] = [server.fresh('caller'), server.fresh('callee')]
  for (const uid of [initiator, receiver]) {
    server.afterwards(() => server.api.delete(`/users/${uid}`, { permanent: true }))
  }
  const text = JSON.stringify({ initiator, receiver, ...script }).replaceAll('"callee"', JSON.stringify(receiver))
  return data(await emulator.post('/calls/script', JSON.parse(text.replaceAll('"caller"', JSON.stringify(initiator)))))
}

const answered = [
  { after: 10, do: 'join', uid: 'caller', deviceId: 'web' },
  { after: 10, do: 'join', uid: 'callee', deviceId: 'phone' },
]

const participantsMax = 50

const hourAgo = () => Math.floor(Date.now() / 1000) - 3600

const states: Check[] = [
  check('8 States', 'a video call of two for five minutes has ten video minutes', async (server) => {
    const steps = [...answered, { after: 310, do: 'leave', uid: 'callee', deviceId: 'phone' }]
    const end = { after: 310, do: 'leave', uid: 'caller', deviceId: 'web' }
    const call = await played(server, { type: 'video', steps: [...steps, end] })
    equal([call.status, call.totalVideoMinutes, call.totalAudioMinutes], ['ended', 10, 0], 'status, video and audio')
    equal([call.totalDuration, call.endedAt - call.startedAt], ['00:10:00', 310], 'totalDuration and the span')
  }),
  check('8 States', 'a second without camera is an audio second; another device is another entry', async (server) => {
    const call = await played(server, {
      type: 'video',
      steps: [
        ...answered,
        { after: 10, do: 'join', uid: 'callee', deviceId: 'tablet', camera: false },
        { after: 40, do: 'cameraOff', uid: 'callee', deviceId: 'phone' },
        { after: 70, do: 'end' },
      ],
    })
    equal(call.totalParticipants, 3, '`totalParticipants`')
    equal([call.totalVideoMinutes, call.totalAudioMinutes], [1.5, 1.5], 'video and audio minutes')
  }),
  ...(
    [
      ['rejected', [{ after: 5, do: 'reject', uid: 'callee' }], ['rejected']],
      ['canceled', [{ after: 5, do: 'cancel' }], ['unanswered']],
      ['unanswered', [], ['unanswered']],
    ] as const
  ).map(([status, steps, calleeStates]) =>
    check('8 States', `a call that nobody takes can end as ${status}, with zero minutes`, async (server) => {
      const { sessionId } = await played(server, { startAt: hourAgo(), steps })
      const call = data(await server.calls.get(`/calls/${sessionId}`))
      equal([call.status, call.totalDuration], [status, '00:00:00'], 'status and totalDuration')
      holds(isSeconds(call.endedAt), '`endedAt` is in UNIX seconds')
      const callee = call.participants.filter((entry: Call) => entry.uid === call.receiver)
      equal(
        callee.map(({ state }: Call) => state),
        calleeStates,
        'the state of the called user',
      )
    }),
  ),
  check('8 States', 'fifty take part; one more: 402 ERR_PLAN_QUOTA_RESTRICTION', async (server) => {
    const emulator = await emulatorOf(server)
    const uids = Array.from({ length: participantsMax + 1 }, () => server.fresh('guest'))
    for (const uid of uids) server.afterwards(() => server.api.delete(`/users/${uid}`, { permanent: true }))
    const meeting = { initiator: uids[0], receiver: server.fresh('meeting'), receiverType: 'group', mode: 'meet' }
    const joined = uids.map((uid, after) => ({ after, do: 'join', uid, deviceId: 'web' }))
    const play = (steps: object[]) => emulator.post('/calls/script', { ...meeting, startAt: hourAgo(), steps })
    failure(await play(joined), 402, 'ERR_PLAN_QUOTA_RESTRICTION')
    equal(data(await play(joined.slice(0, participantsMax))).totalParticipants, participantsMax, 'how many fit')
  }),
]

export const calls: CheckedArea = {
  name: 'calls',
  title: 'Calls',
  contract: '01',
  checks: [...filters, ...records, ...states, ...edges],
}
