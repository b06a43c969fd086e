import { randomBytes, randomUUID } from 'node:crypto'
import { ApiError } from '../../kit/errors.ts'
import { type Course, callRules } from '../calls/index.ts'
import type { InitiatedFact } from '../calls/schemas.ts'
import { startInFuture, stepInFuture, stepNeeds } from './errors.ts'
import type { Script, ScriptStep } from './schemas.ts'

interface TimedStep {
  step: ScriptStep
  /** Its place in the script as sent. */
  index: number
  at: number
}

/** A script with its times: how the call begins, and what happens in it in the order of time. */
export interface Plan {
  start: InitiatedFact
  steps: TimedStep[]
}

export function planOf(script: Script, now: number): Plan {
  const lastAfter = Math.max(0, ...script.steps.map(({ after }) => after))
  const startAt = script.startAt ?? now - lastAfter
  if (startAt > now) throw startInFuture(startAt, now)
  const steps = script.steps
    .map((step, index) => ({ step, index, at: startAt + step.after }))
    .toSorted((a, b) => a.at - b.at || a.index - b.index)
  const late = steps.find(({ at }) => at > now)
  if (late) throw stepInFuture(late.index, late.at, now)
  return { start: callRules.initiate(placed(script, startAt)), steps }
}

/** Lets the steps happen in a call that has just begun: each at its own time, with deadlines in between taking effect. */
export function play({ steps }: Plan, course: Course, now: number): void {
  const stage = new Stage(course)
  for (const { step, index, at } of steps) {
    stage.passTime(at)
    named(index, () => stage.perform(step, index))
  }
  // The script is over: nobody in the call gives a sign any more.
  course.passTime(now)
}

function placed(script: Script, at: number) {
  const lower = (uid: string) => uid.toLowerCase()
  return {
    at,
    initiator: lower(script.initiator),
    receiver: lower(script.receiver),
    receiverType: script.receiverType ?? 'user',
    type: script.type ?? 'audio',
    mode: script.mode ?? 'call',
    invited: (script.invited ?? []).map(lower),
    tags: script.tags ?? [],
    ...(script.metaData && { metaData: script.metaData }),
  }
}

/** A step that the rules refuse says which one it was. */
function named(index: number, perform: () => void): void {
  try {
    perform()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new ApiError(error.code, error.status, error.message, `steps.${index}: ${error.message}`, error.details)
  }
}

class Stage {
  readonly #course: Course
  /** Devices not heard of any more. */
  readonly #silent = new Set<string>()

  constructor(course: Course) {
    this.#course = course
  }

  /** Time goes on; all devices but those that have vanished are heard of until then. */
  passTime(until: number): void {
    const heard = this.#course.signs.filter((sign) => !this.#silent.has(keyOf(sign)))
    this.#course.hear(heard.map((sign) => ({ ...sign, seenAt: until })))
    this.#course.passTime(until)
  }

  perform(step: ScriptStep, index: number): void {
    if (step.do === 'vanish') {
      this.#silent.add(keyOf(deviceOf(step, index)))
      return
    }
    if (step.do === 'join') this.#silent.delete(keyOf(deviceOf(step, index)))
    this.#course.happen(this.#intentOf(step, index))
  }

  #intentOf(step: ScriptStep, index: number): callRules.Intent {
    const { now: happenedAt, state } = this.#course
    switch (step.do) {
      case 'ring':
        return { kind: 'rung', happenedAt, uid: uidOf(step, index) }
      case 'join':
        return {
          kind: 'joined',
          happenedAt,
          ...deviceOf(step, index),
          mid: state.mid ?? randomUUID(),
          ...(step.camera !== undefined && { camera: step.camera }),
        }
      case 'cameraOn':
      case 'cameraOff':
        return { kind: step.do, happenedAt, ...deviceOf(step, index) }
      case 'leave':
        return { kind: 'left', happenedAt, ...deviceOf(step, index) }
      case 'reject':
        return { kind: 'rejected', happenedAt, uid: uidOf(step, index), ...(step.busy && { cause: 'busy' }) }
      case 'cancel':
        return { kind: 'canceled', happenedAt }
      case 'end':
        return { kind: 'ended', happenedAt }
      case 'startRecording':
        return { kind: 'recordingStarted', happenedAt, rid: step.rid ?? madeUpId('rec') }
      case 'stopRecording':
        return this.#stopRecording(step)
      case 'transcribe':
        return this.#transcribe(step)
      case 'vanish':
        throw new Error('A device that vanishes leaves no fact of its own.')
    }
  }

  #stopRecording(step: ScriptStep): callRules.Intent {
    const { now: happenedAt, state } = this.#course
    const running = state.recordings.findLast(({ endTime }) => endTime === undefined)
    const rid = step.rid ?? running?.rid ?? ''
    return { kind: 'recordingStopped', happenedAt, rid, url: step.url ?? `https://recordings.example/${rid}.mp4` }
  }

  #transcribe(step: ScriptStep): callRules.Intent {
    const { now: happenedAt, state } = this.#course
    const tid = madeUpId('tr')
    return {
      kind: 'transcribed',
      happenedAt,
      tid,
      startTime: state.start.at,
      endTime: state.endedAt ?? happenedAt,
      url: step.url ?? `https://transcripts.example/${tid}.json`,
    }
  }
}

const idBytes = 6

function madeUpId(prefix: string): string {
  return `${prefix}_${randomBytes(idBytes).toString('hex')}`
}

function uidOf({ uid }: ScriptStep, index: number): string {
  if (uid === undefined) throw stepNeeds(index, 'uid')
  return uid.toLowerCase()
}

function keyOf({ uid, deviceId }: { uid: string; deviceId: string }): string {
  return JSON.stringify([uid, deviceId])
}

function deviceOf(step: ScriptStep, index: number): { uid: string; deviceId: string } {
  if (step.deviceId === undefined) throw stepNeeds(index, 'deviceId')
  return { uid: uidOf(step, index), deviceId: step.deviceId }
}
