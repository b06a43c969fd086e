import { randomBytes, randomUUID } from 'node:crypto'
import { ApiError } from '../../kit/errors.ts'
import type { Timings } from '../../kit/ports.ts'
import { callRules, callStates } from '../calls/index.ts'
import type { Fact, InitiatedFact } from '../calls/schemas.ts'
import { startInFuture, stepInFuture, stepNeeds } from './errors.ts'
import type { Script, Step } from './schemas.ts'

const { accept, initiate, nextDeadline, overdue } = callRules
const { applyFact, begin } = callStates
type CallState = callStates.CallState
type Sign = callRules.Sign

/** A call after its script: its ledger so far, and when each device in it was last heard of. */
export interface Played {
  facts: [InitiatedFact, ...Fact[]]
  signs: Sign[]
}

/** Plays a script through the call rules: every step at its own time, with deadlines in between taking effect. */
export function play(script: Script, now: number, timings: Timings): Played {
  const steps = script.steps
    .map((step, index) => ({ step, index }))
    .toSorted((a, b) => a.step.after - b.step.after || a.index - b.index)
  const lastAfter = steps.at(-1)?.step.after ?? 0
  const startAt = script.startAt ?? now - lastAfter
  if (startAt > now) throw startInFuture(startAt, now)
  const stage = new Stage(initiate(placed(script, startAt)), timings)
  for (const { step, index } of steps) {
    const at = startAt + step.after
    if (at > now) throw stepInFuture(index, at, now)
    stage.passTime(at)
    named(index, () => stage.perform(step, index, at))
  }
  stage.curtain(startAt + lastAfter)
  stage.passTime(now)
  return { facts: stage.facts, signs: stage.signs() }
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
  readonly facts: [InitiatedFact, ...Fact[]]
  #state: CallState
  readonly #timings: Timings
  /** Devices not heard of any more, and since when. */
  readonly #silentSince = new Map<string, number>()
  #present: number

  constructor(start: InitiatedFact, timings: Timings) {
    this.facts = [start]
    this.#state = begin(start)
    this.#timings = timings
    this.#present = start.at
  }

  /** Lets everything happen that falls due up to `until`. */
  passTime(until: number): void {
    this.#present = until
    for (;;) {
      const deadline = nextDeadline(this.#state, this.signs(), this.#timings)
      if (deadline === undefined || deadline > until) return
      const due = overdue(this.#state, this.signs(), deadline, this.#timings)
      if (!due) return
      this.#happen(due, deadline)
    }
  }

  perform(step: Step, index: number, at: number): void {
    if (step.do === 'vanish') {
      const { uid, deviceId } = deviceOf(step, index)
      this.#silentSince.set(`${uid} ${deviceId}`, at)
      return
    }
    if (step.do === 'join') {
      const { uid, deviceId } = deviceOf(step, index)
      this.#silentSince.delete(`${uid} ${deviceId}`)
    }
    this.#happen(this.#intentOf(step, index), at)
  }

  /** The script is over: nobody in the call gives a sign any more. */
  curtain(at: number): void {
    for (const { uid, deviceId } of this.signs()) {
      const key = `${uid} ${deviceId}`
      if (!this.#silentSince.has(key)) this.#silentSince.set(key, at)
    }
  }

  signs(): Sign[] {
    return this.#state.entries
      .filter(({ state }) => state === 'ongoing')
      .map(({ uid, deviceId = '' }) => ({
        uid,
        deviceId,
        seenAt: this.#silentSince.get(`${uid} ${deviceId}`) ?? this.#present,
      }))
  }

  #happen(intent: callRules.Intent, at: number): void {
    const added = accept(this.#state, intent, at)
    this.facts.push(...added)
    this.#state = added.reduce(applyFact, this.#state)
  }

  #intentOf(step: Step, index: number): callRules.Intent {
    switch (step.do) {
      case 'ring':
        return { kind: 'rung', uid: uidOf(step, index) }
      case 'join':
        return {
          kind: 'joined',
          ...deviceOf(step, index),
          mid: this.#state.mid ?? randomUUID(),
          ...(step.camera !== undefined && { camera: step.camera }),
        }
      case 'cameraOn':
      case 'cameraOff':
        return { kind: step.do, ...deviceOf(step, index) }
      case 'leave':
        return { kind: 'left', ...deviceOf(step, index) }
      case 'reject':
        return { kind: 'rejected', uid: uidOf(step, index), ...(step.busy && { cause: 'busy' }) }
      case 'cancel':
        return { kind: 'canceled' }
      case 'end':
        return { kind: 'ended' }
      case 'startRecording':
        return { kind: 'recordingStarted', rid: step.rid ?? madeUpId('rec') }
      case 'stopRecording':
        return this.#stopRecording(step)
      case 'transcribe':
        return this.#transcribe(step)
      case 'vanish':
        throw new Error('A device that vanishes leaves no fact of its own.')
    }
  }

  #stopRecording(step: Step): callRules.Intent {
    const running = this.#state.recordings.findLast(({ endTime }) => endTime === undefined)
    const rid = step.rid ?? running?.rid ?? ''
    return { kind: 'recordingStopped', rid, url: step.url ?? `https://recordings.example/${rid}.mp4` }
  }

  #transcribe(step: Step): callRules.Intent {
    const tid = madeUpId('tr')
    return {
      kind: 'transcribed',
      tid,
      startTime: this.#state.start.at,
      endTime: this.#state.endedAt ?? this.#present,
      url: step.url ?? `https://transcripts.example/${tid}.json`,
    }
  }
}

const idBytes = 6

function madeUpId(prefix: string): string {
  return `${prefix}_${randomBytes(idBytes).toString('hex')}`
}

function uidOf({ uid }: Step, index: number): string {
  if (uid === undefined) throw stepNeeds(index, 'uid')
  return uid.toLowerCase()
}

function deviceOf(step: Step, index: number): { uid: string; deviceId: string } {
  if (step.deviceId === undefined) throw stepNeeds(index, 'deviceId')
  return { uid: uidOf(step, index), deviceId: step.deviceId }
}
