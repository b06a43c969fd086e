import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiError } from '../../kit/errors.ts'
import type { Fact, InitiatedFact } from './facts.ts'
import { clockFace, recordOf } from './record.ts'
import { accept, believed, type CallAct, elapsed, type Intent, initiate, overdue, participantsMax } from './rules.ts'
import { applyFact, begin, type CallState, type CallStatus, fold } from './state.ts'

const startAt = 1_767_225_600
const timings = { ringSeconds: 45, leaseSeconds: 60 }

function place(changes: Partial<InitiatedFact> = {}): InitiatedFact {
  return initiate({
    at: startAt,
    initiator: 'nora',
    receiver: 'milo',
    receiverType: 'user',
    type: 'video',
    mode: 'call',
    invited: [],
    tags: [],
    ...changes,
  })
}

const placeGroup = (invited: string[], changes: Partial<InitiatedFact> = {}) =>
  place({ receiver: 'team', receiverType: 'group', invited, ...changes })

const join = (uid: string, deviceId = 'd1', camera?: boolean): CallAct => ({
  kind: 'joined',
  uid,
  deviceId,
  mid: 'm',
  ...(camera !== undefined && { camera }),
})
const leave = (uid: string, deviceId = 'd1'): CallAct => ({ kind: 'left', uid, deviceId })
const reject = (uid: string, cause?: string): CallAct => ({ kind: 'rejected', uid, ...(cause && { cause }) })
const cancel: CallAct = { kind: 'canceled' }
const timeOut: CallAct = { kind: 'unanswered' }
const end: CallAct = { kind: 'ended' }

/** An act that is told as it happens, so many seconds after the start. */
const at = (after: number, act: CallAct): Intent => ({ ...act, happenedAt: startAt + after })

/** What is told `now` seconds after the start, and happened when the intent says. */
const tell = (state: CallState, now: number, intent: Intent): CallState =>
  accept(state, intent, startAt + now).reduce(applyFact, state)

/** Lets acts happen at seconds after the start. */
function play(start: InitiatedFact, ...steps: [number, CallAct][]): CallState {
  return steps.reduce((state, [after, act]) => tell(state, after, at(after, act)), begin(start))
}

const record = (state: CallState, after = 100_000) => recordOf('session', state, startAt + after)

describe('the status of a call', () => {
  const answered: [number, CallAct][] = [[5, join('milo')]]
  const states: Record<CallStatus, () => CallState> = {
    initiated: () => play(place()),
    ongoing: () => play(place(), ...answered),
    ended: () => play(place(), ...answered, [9, end]),
    unanswered: () => play(place(), [45, timeOut]),
    rejected: () => play(place(), [3, reject('milo')]),
    canceled: () => play(place(), [3, cancel]),
  }
  const intents: Record<string, CallAct> = { join: join('milo', 'd2'), reject: reject('milo'), cancel, timeOut, end }
  const terminated = 'ERR_CALL_TERMINATED'
  const table: [CallStatus, keyof typeof intents, string][] = [
    ['initiated', 'join', 'ongoing'],
    ['initiated', 'reject', 'rejected'],
    ['initiated', 'cancel', 'canceled'],
    ['initiated', 'timeOut', 'unanswered'],
    ['initiated', 'end', 'ERR_CALL_NOT_STARTED'],
    ['ongoing', 'join', 'ongoing'],
    ['ongoing', 'reject', 'ERR_CALL_ONGOING_TO_INVALID'],
    ['ongoing', 'cancel', 'ERR_CALL_ONGOING_TO_INVALID'],
    ['ongoing', 'timeOut', 'ERR_CALL_ONGOING_TO_INVALID'],
    ['ongoing', 'end', 'ended'],
    ...(['ended', 'unanswered', 'rejected', 'canceled'] as const).flatMap((from) =>
      Object.keys(intents).map((intent): [CallStatus, string, string] => [from, intent, terminated]),
    ),
  ]
  for (const [from, intent, expected] of table) {
    it(`${from}, then ${intent}: ${expected}`, () => {
      const state = states[from]()
      assert.equal(state.status, from)
      const happen = () => tell(state, 60, at(60, intents[intent] as CallAct))
      if (expected.startsWith('ERR_')) assert.throws(happen, { code: expected })
      else assert.equal(happen().status, expected)
    })
  }

  it('is ongoing from the start where nobody is rung', () => {
    for (const mode of ['meet', 'presenter'] as const) assert.equal(begin(placeGroup([], { mode })).status, 'ongoing')
  })

  it('becomes ongoing with the first callee, not with the caller', () => {
    assert.equal(play(place(), [1, join('nora')]).status, 'initiated')
    assert.equal(play(place(), [1, join('nora')], [2, join('milo')]).status, 'ongoing')
  })

  it('of a group call is rejected when everyone who was rung declined', () => {
    const start = placeGroup(['milo', 'amara'])
    assert.equal(play(start, [1, reject('milo')]).status, 'initiated')
    const state = play(start, [1, reject('milo')], [2, reject('amara')])
    assert.equal(state.status, 'rejected')
    assert.equal(state.endedAt, startAt + 2)
  })

  it('ends with the last to leave, and is canceled when the caller leaves before anyone came', () => {
    const both: [number, CallAct][] = [
      [1, join('nora')],
      [2, join('milo')],
      [9, leave('nora')],
    ]
    assert.equal(play(place(), ...both).status, 'ongoing')
    assert.equal(play(place(), ...both, [10, leave('milo')]).status, 'ended')
    assert.equal(play(place(), [1, join('nora')], [9, leave('nora')]).status, 'canceled')
  })

  it('does not hold a user who declined a group call to it', () => {
    const state = play(placeGroup(['milo', 'amara']), [1, reject('milo')], [5, join('amara')], [9, join('milo')])
    assert.deepEqual(
      record(state, 9).participants.map(({ uid, state: now }) => [uid, now]),
      [
        ['nora', 'unanswered'],
        ['milo', 'ongoing'],
        ['amara', 'ongoing'],
      ],
    )
  })

  it('remembers each change with its cause', () => {
    const state = play(place(), [5, join('milo')], [8, leave('milo')])
    assert.deepEqual(
      state.statusChanges.map(({ status, cause, fact }) => [status, cause, fact]),
      [
        ['initiated', 'placed', 1],
        ['ongoing', 'joined', 2],
        ['ended', 'last participant left', 4],
      ],
    )
  })
})

describe('a participant', () => {
  it('who never joined has one bare entry with zero minutes', () => {
    const call = record(play(place(), [45, timeOut]))
    assert.deepEqual(call.participants, [
      {
        uid: 'nora',
        totalAudioMinutes: 0,
        totalVideoMinutes: 0,
        totalDurationInMinutes: 0,
        totalDuration: 0,
        isJoined: false,
        state: 'unanswered',
      },
      {
        uid: 'milo',
        totalAudioMinutes: 0,
        totalVideoMinutes: 0,
        totalDurationInMinutes: 0,
        totalDuration: 0,
        isJoined: false,
        state: 'unanswered',
      },
    ])
  })

  it('has one entry per device', () => {
    const state = play(place(), [1, join('nora')], [4, join('milo', 'ios')], [6, join('milo', 'web')], [60, end])
    const call = record(state)
    assert.equal(call.totalParticipants, 3)
    assert.deepEqual(
      call.participants.map(({ uid, deviceId }) => [uid, deviceId]),
      [
        ['nora', 'd1'],
        ['milo', 'ios'],
        ['milo', 'web'],
      ],
    )
  })

  it('who comes back on the same device goes on in the same entry, and the minutes add up', () => {
    const state = play(
      place({ type: 'audio' }),
      [0, join('nora')],
      [10, join('milo')],
      [70, leave('milo')],
      [100, join('milo')],
    )
    const [, back] = record(state, 130).participants
    assert.equal(back?.leftAt, undefined)
    assert.equal(back?.state, 'ongoing')
    assert.equal(back?.joinedAt, startAt + 10)
    assert.equal(back?.totalAudioMinutes, 1.5)
    assert.equal(record(state, 130).totalParticipants, 2)
  })

  it('counts as video while sending video and as audio otherwise', () => {
    const camera = (kind: 'cameraOn' | 'cameraOff'): CallAct => ({ kind, uid: 'milo', deviceId: 'd1' })
    const state = play(
      place(),
      [0, join('milo')],
      [60, camera('cameraOff')],
      [90, camera('cameraOff')],
      [150, camera('cameraOn')],
      [210, end],
    )
    const [, milo] = record(state).participants
    assert.deepEqual([milo?.totalVideoMinutes, milo?.totalAudioMinutes], [2, 1.5])
  })

  it('counts by the type of the call where sending is not known, and as told where it is', () => {
    const minutes = (type: 'audio' | 'video', camera?: boolean) => {
      const call = record(play(place({ type }), [0, join('milo', 'd1', camera)], [60, end]))
      return [call.totalAudioMinutes, call.totalVideoMinutes]
    }
    assert.deepEqual(minutes('audio'), [1, 0])
    assert.deepEqual(minutes('video'), [0, 1])
    assert.deepEqual(minutes('audio', true), [0, 1])
    assert.deepEqual(minutes('video', false), [1, 0])
  })

  it('is refused as the contract says', () => {
    const group = placeGroup(['milo'])
    const cases: [string, () => unknown][] = [
      ['ERR_CALL_NOT_A_PART', () => play(place(), [1, join('stranger')])],
      ['ERR_CALL_NOT_A_PART', () => play(place(), [1, leave('milo')])],
      ['ERR_CALL_NOT_A_PART', () => play(place(), [1, reject('nora')])],
      ['ERR_CALL_NOT_A_PART', () => play(place(), [1, reject('stranger')])],
      ['ERR_CALL_USER_ALREADY_JOINED', () => play(place(), [1, join('milo')], [2, join('milo')])],
      ['ERR_CALL_GROUP_ALREADY_JOINED', () => play(group, [1, join('milo')], [2, join('milo')])],
      [
        'ERR_CALL_GROUP_ALREADY_LEFT',
        () => play(group, [0, join('nora')], [1, join('milo')], [2, leave('milo')], [3, leave('milo')]),
      ],
      ['ERR_CALL_GROUP_INVALID_STATUS', () => play(group, [1, reject('milo', 'busy')])],
      ['ERR_CALL_ONGOING_TO_INVALID', () => play(placeGroup([], { mode: 'meet' }), [1, reject('milo')])],
      ['ERR_CALLING_SELF', () => place({ receiver: 'nora' })],
    ]
    for (const [code, attempt] of cases) assert.throws(attempt, { code })
  })

  it('beyond the 50th device is refused, and those only rung give way to those who join', () => {
    const invited = Array.from({ length: 70 }, (_, n) => `user-${n}`)
    let state = begin(placeGroup(invited))
    assert.equal(record(state).totalParticipants, participantsMax)
    for (let n = 20; n < 70; n += 1) state = tell(state, 1, at(1, join(`user-${n}`)))
    const call = record(state)
    assert.equal(call.totalParticipants, participantsMax)
    assert.ok(call.participants.every(({ isJoined }) => isJoined))
    assert.throws(() => tell(state, 2, at(2, join('user-1'))), { code: 'ERR_PLAN_QUOTA_RESTRICTION', status: 402 })
    const back = tell(state, 3, at(3, leave('user-20')))
    assert.doesNotThrow(() => tell(back, 4, at(4, join('user-20'))))
  })
})

describe('time', () => {
  it('ends the ring', () => {
    const state = begin(place())
    assert.equal(overdue(state, [], startAt + 44, timings), undefined)
    assert.deepEqual(overdue(state, [], startAt + 45, timings), { kind: 'unanswered', happenedAt: startAt + 45 })
  })

  it('takes a silent device out of the call from the moment it was last heard of', () => {
    const state = play(
      place(),
      [0, join('nora')],
      [10, join('milo')],
      [200, { kind: 'cameraOff', uid: 'nora', deviceId: 'd1' }],
    )
    const signs = [
      { uid: 'nora', deviceId: 'd1', seenAt: startAt + 250 },
      { uid: 'milo', deviceId: 'd1', seenAt: startAt + 100 },
    ]
    const due = overdue(state, signs, startAt + 255, timings)
    assert.ok(due)
    const after = tell(state, 255, due)
    const milo = record(after).participants[1]
    assert.equal(milo?.leftAt, startAt + 100)
    assert.equal(milo?.totalVideoMinutes, 1.5)
    assert.equal(after.status, 'ongoing')
  })

  it('does all it has to do, one thing after the other', () => {
    const state = play(place(), [0, join('nora')], [10, join('milo')])
    const signs = [{ uid: 'nora', deviceId: 'd1', seenAt: startAt + 90 }]
    assert.deepEqual(elapsed(state, signs, startAt + 69, timings), [])
    assert.deepEqual(
      elapsed(state, signs, startAt + 100_000, timings).map(({ kind, at }) => [kind, at]),
      [
        ['left', startAt + 10],
        ['left', startAt + 90],
        ['ended', startAt + 90],
      ],
    )
  })

  it('ends a meeting that nobody came to', () => {
    const state = begin(placeGroup([], { mode: 'meet' }))
    assert.equal(overdue(state, [], startAt + 44, timings), undefined)
    assert.deepEqual(overdue(state, [], startAt + 45, timings), {
      kind: 'ended',
      cause: 'nobody joined',
      happenedAt: startAt + 45,
    })
  })

  it('that steps back does not turn the order of facts around', () => {
    const state = play(place(), [10, join('milo')], [5, leave('milo')])
    const [, milo] = record(state).participants
    assert.deepEqual([milo?.joinedAt, milo?.leftAt, state.endedAt], [startAt + 10, startAt + 10, startAt + 10])
  })

  it('is shown as HH:MM:SS, also beyond a day and beyond 99 hours', () => {
    assert.equal(clockFace(0), '00:00:00')
    assert.equal(clockFace(59), '00:00:59')
    assert.equal(clockFace(3_661), '01:01:01')
    assert.equal(clockFace(25 * 3600), '25:00:00')
    assert.equal(clockFace(123 * 3600 + 59 * 60 + 59), '123:59:59')
  })
})

describe('what is told late', () => {
  const camera = (kind: 'cameraOn' | 'cameraOff'): CallAct => ({ kind, uid: 'milo', deviceId: 'd1' })
  const milo = (state: CallState, now: number) => record(state, now).participants[1]

  it('is dated when it happened, but not before what it follows', () => {
    const joined = tell(begin(place()), 20, at(8, join('milo')))
    assert.equal(milo(joined, 30)?.joinedAt, startAt + 8)
    assert.equal(milo(tell(joined, 30, at(25, leave('milo'))), 30)?.leftAt, startAt + 25)
    assert.equal(milo(tell(joined, 30, at(-100, leave('milo'))), 30)?.leftAt, startAt + 8)
    assert.equal(milo(tell(begin(place()), 20, at(-5, join('milo'))), 30)?.joinedAt, startAt)
    const again = tell(
      tell(play(place(), [0, join('nora')], [8, join('milo')]), 30, at(25, leave('milo'))),
      40,
      at(20, join('milo')),
    )
    assert.equal(milo(again, 40)?.totalVideoMinutes, (25 - 8 + 15) / 60)
  })

  it('is never dated ahead of now', () => {
    assert.equal(milo(tell(begin(place()), 5, at(500, join('milo'))), 5)?.joinedAt, startAt + 5)
  })

  it('of a camera counts until the next switch that is known', () => {
    const switched = play(
      place(),
      [0, join('nora')],
      [0, join('milo')],
      [60, camera('cameraOff')],
      [120, camera('cameraOn')],
    )
    const told = tell(switched, 130, at(90, camera('cameraOn')))
    assert.deepEqual([milo(told, 180)?.totalVideoMinutes, milo(told, 180)?.totalAudioMinutes], [2.5, 0.5])
    const left = tell(switched, 180, at(180, leave('milo')))
    const after = tell(left, 190, at(150, camera('cameraOff')))
    assert.deepEqual([milo(after, 200)?.totalVideoMinutes, milo(after, 200)?.totalAudioMinutes], [1.5, 1.5])
    assert.throws(() => tell(left, 190, at(185, camera('cameraOff'))), ApiError)
  })

  it('neither reopens a call that is over nor takes back a status', () => {
    const over = play(place(), [5, join('milo')], [60, end])
    for (const act of [join('nora'), leave('milo'), camera('cameraOff'), cancel]) {
      assert.throws(() => tell(over, 70, at(30, act)), { code: 'ERR_CALL_TERMINATED' })
    }
    assert.equal(tell(play(place(), [5, join('milo')], [50, join('nora')]), 60, at(20, end)).endedAt, startAt + 50)
  })

  it('of a device is not believed to be older than a lease', () => {
    const intent = believed(at(100, leave('milo')), startAt + 500, timings)
    assert.equal(intent.happenedAt, startAt + 440)
    assert.equal(believed(at(100, end), startAt + 500, timings).happenedAt, startAt + 100)
  })
})

describe('a recording', () => {
  const started: CallAct = { kind: 'recordingStarted', rid: 'r1' }
  const stopped: CallAct = { kind: 'recordingStopped', rid: 'r1', url: 'https://files.example/r1.mp4' }

  it('is shown once it has a file, oldest first', () => {
    const running = play(place(), [1, join('milo')], [10, started])
    assert.equal(record(running).hasRecording, false)
    assert.equal(record(running).recordings, undefined)
    const second: [number, CallAct][] = [
      [50, { kind: 'recordingStarted', rid: 'r2' }],
      [60, { kind: 'recordingStopped', rid: 'r2', url: 'https://files.example/r2.mp4' }],
    ]
    const call = record(play(place(), [1, join('milo')], [10, started], [40, stopped], ...second, [70, end]))
    assert.deepEqual(call.recordings, [
      {
        rid: 'r1',
        duration: 0.5,
        startTime: startAt + 10,
        endTime: startAt + 40,
        recording_url: 'https://files.example/r1.mp4',
      },
      {
        rid: 'r2',
        duration: 10 / 60,
        startTime: startAt + 50,
        endTime: startAt + 60,
        recording_url: 'https://files.example/r2.mp4',
      },
    ])
  })

  it('cannot start while the call rings, start twice or stop without having started', () => {
    assert.throws(() => play(place(), [1, started]), { code: 'ERR_CALL_NOT_STARTED' })
    assert.throws(() => play(place(), [1, join('milo')], [2, started], [3, started]), ApiError)
    assert.throws(() => play(place(), [1, join('milo')], [2, stopped]), ApiError)
  })
})

describe('a recorder that stops after the call', () => {
  const started: CallAct = { kind: 'recordingStarted', rid: 'r1' }
  const stopped: CallAct = { kind: 'recordingStopped', rid: 'r1', url: 'https://files.example/r1.mp4' }
  const ended = play(place(), [1, join('milo')], [10, started], [70, end])

  it('still hands over its file, which ends with the call', () => {
    assert.equal(record(ended).recordings, undefined)
    const call = record(play(place(), [1, join('milo')], [10, started], [70, end], [500, stopped]))
    assert.deepEqual(
      call.recordings?.map(({ startTime, endTime, duration }) => [startTime, endTime, duration]),
      [[startAt + 10, startAt + 70, 1]],
    )
    assert.deepEqual([call.hasRecording, call.status, call.endedAt], [true, 'ended', startAt + 70])
  })

  it('does so once, and none starts after the end', () => {
    const over = tell(ended, 80, at(80, stopped))
    assert.throws(() => tell(over, 81, at(81, stopped)), { code: 'ERR_BAD_REQUEST' })
    assert.throws(() => tell(over, 81, at(81, { kind: 'recordingStarted', rid: 'r2' })), {
      code: 'ERR_CALL_TERMINATED',
    })
  })
})

describe('a ledger', () => {
  it('gives the same state however often it is replayed, and knows only complete ones', () => {
    const facts: Fact[] = [place(), ...accept(begin(place()), at(3, join('milo')), startAt + 3)]
    assert.deepEqual(fold(facts), fold(structuredClone(facts)))
    assert.throws(() => fold([]), /begins/)
  })
})
