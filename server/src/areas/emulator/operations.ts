import { one } from '../../common/reply.ts'
import { badRequest } from '../../kit/errors.ts'
import { operation } from '../../kit/operation.ts'
import type { Work } from '../../kit/work.ts'
import { callRuleErrors } from '../calls/errors.ts'
import { beginCall, callText, inCall, newSessionId, requireCall } from '../calls/index.ts'
import { Call } from '../calls/schemas.ts'
import { bringGroups } from '../groups/index.ts'
import { bringUsers, systemUid } from '../users/index.ts'
import { clockChangeUnclear } from './errors.ts'
import { ClockChange, ClockReading, Script } from './schemas.ts'
import { type Plan, planOf, play } from './script.ts'

const scriptBytesMax = 1_048_576

const playCallScript = operation({
  id: 'playCallScript',
  route: 'POST /calls/script',
  summary: 'Play a scripted call',
  description:
    'Takes the steps of a call through the same rules as a real one and answers its record. ' +
    'Users and groups that it names are created if they do not exist. Whoever has not left at the last step is not heard ' +
    'of after it: once a lease has passed, the call ends with that moment.',
  body: Script,
  bodyBytesMax: scriptBytesMax,
  reply: one(Call),
  errors: callRuleErrors,
  async run(call) {
    const sessionId = await playScript(call, call.app.region, call.body)
    return callText(call.db, await requireCall(call.db, sessionId, undefined), call.now)
  },
})

/** Plays a script and answers the session id of the call it left. */
export async function playScript(work: Work, region: string, script: Script): Promise<string> {
  const plan = planOf(script, work.now)
  await createNamed(work, plan)
  const { start } = plan
  const sessionId = newSessionId(region, work.db.appId, start.at)
  await beginCall(work, sessionId, start)
  await inCall({ ...work, now: start.at }, sessionId, (course) => play(plan, course, work.now))
  return sessionId
}

/** The system user is nobody's row, and no call is its. */
function refuseSystem(uids: Set<string>): void {
  if (uids.has(systemUid)) throw badRequest({ initiator: [`${systemUid} takes part in no call`] })
}

async function createNamed(work: Work, { start, steps }: Plan): Promise<void> {
  const uids = new Set([start.initiator, ...start.invited])
  for (const { step } of steps) if (step.uid !== undefined) uids.add(step.uid.toLowerCase())
  if (start.receiverType === 'user') uids.add(start.receiver)
  refuseSystem(uids)
  const then = { ...work, now: start.at }
  if (start.receiverType === 'group') await bringGroups(then, [{ guid: start.receiver, name: start.receiver }])
  await bringUsers(
    then,
    [...uids].map((uid) => ({ uid, name: uid })),
  )
}

const readClock = operation({
  id: 'readClock',
  route: 'GET /clock',
  summary: 'Read the clock',
  reply: one(ClockReading),
  run: async ({ tools }) => ({ data: reading(tools.clock) }),
})

const setClock = operation({
  id: 'setClock',
  route: 'PUT /clock',
  summary: 'Set or advance the clock',
  description:
    'Whatever falls due by the new time has happened when this answers, unless it takes longer than a few seconds. ' +
    'The clock is the whole install’s.',
  body: ClockChange,
  reply: one(ClockReading),
  async run({ body, tools: { clock } }) {
    if ((body.now === undefined) === (body.advance === undefined)) throw clockChangeUnclear()
    const change = body.advance ?? (body.now ?? 0) - clock.now()
    return { data: { now: clock.now() + change, offsetSeconds: clock.offsetSeconds() + change } }
  },
  // Moved only once the request has succeeded; a transaction that is tried again must not move it twice.
  async after({ clock, settle }, { data }) {
    clock.setOffset(data.offsetSeconds)
    await settle()
  },
})

const resetClock = operation({
  id: 'resetClock',
  route: 'DELETE /clock',
  summary: 'Return to real time',
  reply: one(ClockReading),
  async run({ tools: { clock } }) {
    return { data: { now: clock.now() - clock.offsetSeconds(), offsetSeconds: 0 } }
  },
  after: async ({ clock }) => clock.setOffset(0),
})

function reading(clock: { now(): number; offsetSeconds(): number }) {
  return { now: clock.now(), offsetSeconds: clock.offsetSeconds() }
}

export const operations = [playCallScript, readClock, setClock, resetClock]
