import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '../../kit/errors.ts'
import { Course } from './course.ts'
import { explain } from './explain.ts'
import type { Fact, InitiatedFact } from './facts.ts'
import { clockFace, recordOf } from './record.ts'
import { type CallAct, initiate, nextDeadline, participantsMax, type Sign } from './rules.ts'
import type { ListedCall } from './schemas.ts'
import { begin, type CallState, fold, isFinal } from './state.ts'

/** Random schedules of joining, leaving, crashing, switching cameras and clocks that jump; what must hold after each. */

const schedules = Number(process.env.PARLEY_TEST_SCHEDULES ?? 12_000)
const startAt = 1_767_225_600
const timings = { ringSeconds: 45, leaseSeconds: 60 }
const longAfter = 400 * 24 * 3600

const uid = fc.constantFrom('nora', 'milo', 'amara', 'kenji', 'priya', 'luis', 'elif')
const deviceId = fc.constantFrom('web', 'ios', 'android')
const device = fc.record({ uid, deviceId })

type Step =
  /** What is told, as many seconds late as `late` says; less than none where a clock is ahead. */
  | { do: 'act'; act: CallAct; late: number }
  | { do: 'crash'; uid: string; deviceId: string }
  | { do: 'crashAll' }
  | { do: 'wait'; seconds: number }
  | { do: 'oversleep'; seconds: number }
  | { do: 'clockStep'; seconds: number }

const late = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 20 }) },
  { weight: 1, arbitrary: fc.integer({ min: -600, max: 100_000 }) },
)

const actStep = (act: fc.Arbitrary<CallAct>): fc.Arbitrary<Step> =>
  fc.record({ do: fc.constant('act'), act, late }) as fc.Arbitrary<Step>

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: actStep(
      fc.record({ kind: fc.constant('joined'), uid, deviceId, mid: fc.constant('mid') }) as fc.Arbitrary<CallAct>,
    ),
  },
  {
    weight: 2,
    arbitrary: actStep(
      fc.record({
        kind: fc.constant('joined'),
        uid,
        deviceId,
        mid: fc.constant('mid'),
        camera: fc.boolean(),
      }) as fc.Arbitrary<CallAct>,
    ),
  },
  { weight: 4, arbitrary: actStep(device.map((each) => ({ kind: 'left', ...each }))) },
  { weight: 3, arbitrary: actStep(device.map((each) => ({ kind: 'cameraOn', ...each }))) },
  { weight: 3, arbitrary: actStep(device.map((each) => ({ kind: 'cameraOff', ...each }))) },
  { weight: 1, arbitrary: actStep(uid.map((each) => ({ kind: 'rejected', uid: each }))) },
  {
    weight: 1,
    arbitrary: actStep(
      fc.constantFrom<CallAct>({ kind: 'canceled' }, { kind: 'ended' }, { kind: 'rung', uid: 'milo' }),
    ),
  },
  { weight: 1, arbitrary: actStep(fc.constantFrom('r1', 'r2').map((rid) => ({ kind: 'recordingStarted', rid }))) },
  {
    weight: 1,
    arbitrary: actStep(
      fc.constantFrom('r1', 'r2').map((rid) => ({ kind: 'recordingStopped', rid, url: 'https://files.example/r' })),
    ),
  },
  { weight: 2, arbitrary: device.map((each): Step => ({ do: 'crash', ...each })) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'crashAll' }) },
  {
    weight: 6,
    arbitrary: fc
      .oneof(fc.integer({ min: 0, max: 90 }), fc.integer({ min: 0, max: 40 * 3600 }))
      .map((seconds): Step => ({ do: 'wait', seconds })),
  },
  {
    weight: 3,
    arbitrary: fc.integer({ min: 0, max: 300 }).map((seconds): Step => ({ do: 'oversleep', seconds })),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: -5_000, max: 5_000 }).map((seconds): Step => ({ do: 'clockStep', seconds })),
  },
)

const start: fc.Arbitrary<InitiatedFact> = fc
  .record({
    receiverType: fc.constantFrom('user', 'group'),
    type: fc.constantFrom('audio', 'video'),
    mode: fc.constantFrom('call', 'call', 'call', 'meet', 'presenter'),
    invited: fc.array(uid, { maxLength: 6 }),
  } as const)
  .map(({ receiverType, ...rest }) =>
    initiate({
      at: startAt,
      initiator: 'nora',
      receiver: receiverType === 'user' ? 'milo' : 'team',
      receiverType: receiverType as 'user' | 'group',
      type: rest.type as 'audio' | 'video',
      mode: rest.mode as 'call' | 'meet' | 'presenter',
      invited: rest.invited,
      tags: [],
    }),
  )

/** A call as the server keeps it: its ledger, its clock, and when each device was last heard of. */
class World {
  readonly facts: Fact[]
  state: CallState
  now = startAt
  readonly #silentSince = new Map<string, number>()

  readonly #watcherIsLate: boolean

  constructor(first: InitiatedFact, watcher: 'prompt' | 'late' = 'prompt') {
    this.#watcherIsLate = watcher === 'late'
    this.facts = [first]
    this.state = begin(first)
  }

  take(step: Step): void {
    switch (step.do) {
      case 'act':
        this.#attempt(step.act, step.late)
        return
      case 'crash':
        this.#crash(`${step.uid} ${step.deviceId}`)
        return
      case 'crashAll':
        for (const entry of this.state.entries) this.#crash(`${entry.uid} ${entry.deviceId}`)
        return
      case 'wait':
      case 'clockStep':
        this.now += step.seconds
        if (!this.#watcherIsLate) this.supervise()
        return
      case 'oversleep':
        this.now += step.seconds
        return
    }
  }

  /** What the supervising job does when it wakes. */
  supervise(): void {
    this.#add(this.#course())
  }

  /** The server comes back long after everything stopped. */
  endOfTime(): void {
    for (const entry of this.state.entries) this.#crash(`${entry.uid} ${entry.deviceId}`)
    this.now = Math.max(this.now, this.state.lastAt) + longAfter
    this.supervise()
  }

  signs(): Sign[] {
    return this.state.entries
      .filter(({ deviceId }) => deviceId !== undefined)
      .map(({ uid, deviceId = '' }) => ({
        uid,
        deviceId,
        seenAt: this.#silentSince.get(`${uid} ${deviceId}`) ?? this.now,
      }))
  }

  /** A recorder that outlived the call hands over what it has. */
  stopRecordings(): void {
    this.now += 60
    for (const rid of ['r1', 'r2']) this.#attempt({ kind: 'recordingStopped', rid, url: 'https://files.example/r' }, 0)
  }

  #course(): Course {
    return new Course(this.state, this.signs(), this.now, timings)
  }

  /** As `happen` does it: what time decided comes first, and goes with an act that is refused. */
  #attempt(act: CallAct, late: number): void {
    const course = this.#course()
    try {
      course.happen({ ...act, happenedAt: this.now - late })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      assert.ok(error.status >= 400 && error.status < 500)
      return
    }
    checkUndone(this.state, course)
    this.#add(course)
    if (act.kind === 'joined') this.#silentSince.delete(`${act.uid} ${act.deviceId}`)
  }

  #crash(key: string): void {
    if (!this.#silentSince.has(key)) this.#silentSince.set(key, this.now)
  }

  #add({ added, state }: Course): void {
    this.facts.push(...added)
    this.state = state
  }
}

/** What is told, however late, takes nothing back that is known. */
function checkUndone(before: CallState, { state: after, added, now }: Course): void {
  assert.deepEqual(after.statusChanges.slice(0, before.statusChanges.length), before.statusChanges)
  if (isFinal(before.status)) assert.deepEqual([after.endedAt, after.entries], [before.endedAt, before.entries])
  for (const fact of added) assert.ok(fact.at >= before.start.at && fact.at <= Math.max(now, before.lastAt))
  for (const entry of before.entries) {
    const same = after.entries.find((each) => each.uid === entry.uid && each.deviceId === entry.deviceId)
    if (!same) continue
    if (entry.joinedAt !== undefined) assert.equal(same.joinedAt, entry.joinedAt)
    // Whoever has left has left, and when; what is told of their camera only divides the time.
    const [known] = entry.spans.slice(-1)
    if (known?.to !== undefined) assert.ok(same.spans.some(({ to }) => to === known.to))
    assert.equal(
      same.spans.some((span, n) => span.from < (same.spans[n - 1]?.to ?? 0)),
      false,
    )
  }
}

function checkRecord(call: ListedCall): void {
  const { participants } = call
  const added = (pick: (each: ListedCall['participants'][number]) => number) =>
    participants.reduce((total, each) => total + pick(each), 0)
  assert.equal(
    call.totalAudioMinutes,
    added((each) => each.totalAudioMinutes),
  )
  assert.equal(
    call.totalVideoMinutes,
    added((each) => each.totalVideoMinutes),
  )
  assert.equal(call.totalDurationInMinutes, call.totalAudioMinutes + call.totalVideoMinutes)
  assert.equal(call.totalParticipants, participants.length)
  assert.ok(participants.length <= participantsMax)
  assert.match(call.totalDuration, /^\d{2,}:[0-5]\d:[0-5]\d$/)
  assert.equal(call.totalDuration, clockFace(Math.round(call.totalDurationInMinutes * 60)))
  assert.equal(call.hasRecording, (call.recordings ?? []).length > 0)
  assert.equal(call.startedAt, call.initiatedAt)
  assert.equal(new Set(participants.map((each) => `${each.uid} ${each.deviceId}`)).size, participants.length)
  for (const each of participants) checkParticipant(each, call)
  for (const recording of call.recordings ?? []) {
    assert.ok(recording.startTime >= call.startedAt && recording.endTime >= recording.startTime)
    assert.ok(call.endedAt === undefined || recording.endTime <= call.endedAt)
    assert.equal(recording.duration, (recording.endTime - recording.startTime) / 60)
  }
}

function checkParticipant(each: ListedCall['participants'][number], call: ListedCall): void {
  assert.equal(each.totalDurationInMinutes, each.totalAudioMinutes + each.totalVideoMinutes)
  assert.equal(each.totalDuration, each.totalDurationInMinutes)
  assert.ok(each.totalAudioMinutes >= 0 && each.totalVideoMinutes >= 0)
  assert.equal(each.isJoined, each.deviceId !== undefined)
  assert.equal(each.joinedAt !== undefined, each.isJoined)
  assert.equal(each.leftAt !== undefined, each.state === 'ended')
  assert.equal(each.mid, each.isJoined ? call.mid : undefined)
  if (!each.isJoined) assert.equal(each.totalDuration, 0)
  if (each.joinedAt !== undefined) assert.ok(each.joinedAt >= call.startedAt)
  if (each.joinedAt !== undefined && each.leftAt !== undefined) {
    assert.ok(each.leftAt >= each.joinedAt)
    assert.ok(each.totalDurationInMinutes * 60 <= each.leftAt - each.joinedAt + 1e-6)
  }
  if (each.leftAt !== undefined && call.endedAt !== undefined) assert.ok(call.endedAt >= each.leftAt)
}

describe(`${schedules} random call schedules`, () => {
  it('keep every promise of the record at every moment, and all reach a final state', () => {
    let finished = 0
    const statuses = new Set<string>()
    fc.assert(
      fc.property(start, fc.array(step, { maxLength: 40 }), (first, steps) => {
        const world = new World(first)
        for (const each of steps) {
          world.take(each)
          checkRecord(recordOf('session', world.state, Math.max(world.now, startAt)))
          const live = !isFinal(world.state.status)
          assert.equal(
            nextDeadline(world.state, world.signs(), timings) !== undefined,
            live,
            'a live call has a deadline',
          )
          assert.equal(world.state.endedAt === undefined, live)
        }
        world.endOfTime()
        assert.ok(isFinal(world.state.status))
        const { status, endedAt } = world.state
        world.stopRecordings()
        assert.deepEqual([world.state.status, world.state.endedAt], [status, endedAt], 'an end is the end')
        assert.equal(world.state.recordings.length, recordOf('session', world.state, world.now).recordings?.length ?? 0)
        const call = recordOf('session', world.state, world.now)
        checkRecord(call)
        assert.ok(call.participants.every(({ state }) => state !== 'ongoing'))
        assert.deepEqual(fold(world.facts), world.state, 'the record is a function of the ledger alone')
        assert.deepEqual(recordOf('session', world.state, world.now + 1e6), call, 'a final record never changes')
        checkExplanation(world, call)
        finished += 1
        statuses.add(call.status)
      }),
      { numRuns: schedules },
    )
    assert.ok(finished >= 10_000 || schedules < 10_000)
    assert.deepEqual([...statuses].toSorted(), ['canceled', 'ended', 'rejected', 'unanswered'])
  })
})

describe('a late watcher', () => {
  it('makes no difference to any call', () => {
    fc.assert(
      fc.property(start, fc.array(step, { maxLength: 40 }), (first, steps) => {
        const worlds = [new World(first, 'prompt'), new World(first, 'late')]
        for (const world of worlds) {
          for (const each of steps) if (each.do !== 'clockStep') world.take(each)
          world.endOfTime()
        }
        assert.deepEqual(worlds[1]?.facts, worlds[0]?.facts)
      }),
      { numRuns: schedules / 4 },
    )
  })
})

/** The explanation names a cause for every status and arrives at the same figures. */
function checkExplanation(world: World, call: ListedCall): void {
  const facts = world.facts.map((fact, index) => ({ number: index + 1, recordedAt: world.now, fact }))
  const { status, participants, totals } = explain('session', facts, world.state, world.now)
  assert.ok(status.every(({ cause, fact }) => cause !== '' && facts[fact - 1] !== undefined))
  assert.equal(status.at(-1)?.status, call.status)
  assert.ok(totals.endedAt)
  participants.forEach((each, index) => {
    const seconds = each.spans.reduce((total, span) => total + span.seconds, 0)
    assert.equal(seconds, each.audioSeconds + each.videoSeconds)
    assert.equal(each.audioSeconds / 60, call.participants[index]?.totalAudioMinutes)
    assert.equal(each.videoSeconds / 60, call.participants[index]?.totalVideoMinutes)
    for (const span of each.spans) assert.ok(facts[span.from.fact - 1] && facts[(span.to.fact ?? 0) - 1])
  })
}
