import { randomUUID } from 'node:crypto'
import { tookTooLong } from '../../../server/src/dispatch/errors.ts'
import { errorsOf } from '../../../server/src/http/openapi.ts'
import type { Answer } from '../http.ts'
import type { AppOnDisk, ServerProcess } from '../server-process.ts'
import { formType } from '../uploads.ts'
import type { Ask, Stage } from './abuse.ts'
import type { Case } from './cases.ts'

/** Users who repeat what is in the cases, each over a connection of their own, for as long as they are let. */

/** What came of a case. */
export interface Outcome {
  abuse: Case
  from: number
  to: number
  /** How many answers there were of each status, and how often nobody waited for one. */
  statuses: Record<string, number>
  /** Whether the server did what was asked, or as much of it as it lets anybody do. */
  hasWorked: boolean
  /** Answers that the operation does not declare. */
  undeclared: string[]
}

export interface Abusers {
  /** All repeat one case. */
  repeat(abuse: Case, milliseconds: number): Promise<Outcome>
  /** Each goes through all cases, beginning with another one. */
  mix(cases: Case[], milliseconds: number): Promise<Outcome[]>
}

const connectionsAlone = 8
const connectionsTogether = 8
// Every second write has an Idempotency-Key, so that its answer is kept.
const keyedEvery = 2
// Long reads are left after a while and asked for again: that must not cost more than to wait for them.
const patienceMilliseconds = 800

export function abusersOf(
  app: AppOnDisk,
  server: ServerProcess,
  { stage, tokens }: { stage: Stage; tokens: Map<string, string> },
): Abusers {
  const counts = new Map<Case['ask'], number>()

  function next({ ask }: Case): number {
    const n = counts.get(ask) ?? 0
    counts.set(ask, n + 1)
    return n
  }

  async function send({ operation }: Case, n: number, asked: Ask): Promise<Answer | undefined> {
    const { as, params, query, body, form } = asked
    const isKeyed = operation.method !== 'GET' && n % keyedEvery === 0
    const signal = operation.mayTakeLong ? AbortSignal.timeout(patienceMilliseconds) : undefined
    try {
      return await server.client.send(app.host, `/v3${pathOf(operation, params, query)}`, {
        method: operation.method,
        headers: {
          authToken: tokens.get(as) ?? '',
          ...(form && { 'content-type': formType }),
          ...(isKeyed && { 'Idempotency-Key': randomUUID() }),
        },
        ...(form ? { raw: form } : body && { body }),
        ...(signal && { signal }),
      })
    } catch (error) {
      if (signal?.aborted) return undefined
      throw error
    }
  }

  async function once(outcome: Outcome): Promise<void> {
    const { abuse, statuses, undeclared } = outcome
    const n = next(abuse)
    const asked = abuse.ask(stage, n)
    const answer = await send(abuse, n, asked)
    const status = answer?.status ?? 'left'
    statuses[status] = (statuses[status] ?? 0) + 1
    if (isWork(abuse, answer)) outcome.hasWorked = true
    if (answer?.status === 200) abuse.keep?.(stage, answer, asked)
    else if (answer && !isDeclared(abuse, answer)) undeclared.push(`${answer.status} ${answer.text.slice(0, 300)}`)
    outcome.to = Date.now()
  }

  const begun = (abuse: Case): Outcome => {
    const now = Date.now()
    return { abuse, from: now, to: now, statuses: {}, hasWorked: false, undeclared: [] }
  }

  return {
    async repeat(abuse, milliseconds) {
      const outcome = begun(abuse)
      await atOnce(connectionsAlone, milliseconds, () => once(outcome))
      return outcome
    },
    async mix(cases, milliseconds) {
      const outcomes = cases.map(begun)
      const apart = cases.length / connectionsTogether
      await atOnce(connectionsTogether, milliseconds, (lane, round) => {
        const outcome = outcomes[(Math.floor(lane * apart) + round) % outcomes.length]
        return outcome ? once(outcome) : Promise.resolve()
      })
      return outcomes
    },
  }
}

/** Does something in several lanes at once, again and again; what has begun is waited for. */
async function atOnce(
  lanes: number,
  milliseconds: number,
  act: (lane: number, round: number) => Promise<void>,
): Promise<void> {
  const end = Date.now() + milliseconds
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      for (let round = 0; Date.now() < end; round += 1) await act(lane, round)
    }),
  )
}

function pathOf(operation: Case['operation'], params: Ask['params'], query: Ask['query'] = {}): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params?.[name] ?? ''))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) search.set(name, String(value))
  return search.size === 0 ? path : `${path}?${search}`
}

/** A long read that was left, or ended at its time limit, has been worked at until then. */
function isWork({ refusal }: Case, answer: Answer | undefined): boolean {
  if (!answer || answer.status === 200 || answer.status === refusal) return true
  return answer.body?.error?.code === tookTooLong.code
}

const serverFailed = 500

function isDeclared({ operation }: Case, { status, body }: Answer): boolean {
  if (status === serverFailed) return false
  return errorsOf(operation).some((error) => error.status === status && error.code === body?.error?.code)
}
