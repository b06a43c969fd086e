import { randomBytes } from 'node:crypto'
import { addresses } from './areas/addresses.ts'
import { apiKeys } from './areas/api-keys.ts'
import { authTokens } from './areas/auth-tokens.ts'
import { bannedUsers } from './areas/banned-users.ts'
import { blockedUsers } from './areas/blocked-users.ts'
import { calls } from './areas/calls.ts'
import { collaborators } from './areas/collaborators.ts'
import { conventions } from './areas/conventions.ts'
import { conversations } from './areas/conversations.ts'
import { friends } from './areas/friends.ts'
import { groups } from './areas/groups.ts'
import { lenient } from './areas/lenient.ts'
import { members } from './areas/members.ts'
import { messages } from './areas/messages.ts'
import { permissions } from './areas/permissions.ts'
import { realtime } from './areas/realtime.ts'
import { restrictedFeatures } from './areas/restricted-features.ts'
import { roles } from './areas/roles.ts'
import { settings } from './areas/settings.ts'
import { users } from './areas/users.ts'
import { type CheckedArea, NotSeen, type Server } from './check.ts'
import { type Answer, connect, shortened } from './client.ts'
import { asking, realSecond } from './waiting.ts'

export const checkedAreas: CheckedArea[] = [
  conventions,
  addresses,
  lenient,
  calls,
  users,
  authTokens,
  apiKeys,
  roles,
  permissions,
  restrictedFeatures,
  friends,
  blockedUsers,
  groups,
  members,
  bannedUsers,
  messages,
  conversations,
  realtime,
  settings,
  collaborators,
]

/** Where the server is and what opens it. */
export interface Target {
  url: string
  callsUrl: string
  apiKey: string
  authKey: string
  /** What opens the management door; checks of it are not seen without. */
  management?: { url: string; key: string; secret: string; appId: string } | undefined
  ca?: string | undefined
  connectTo?: string | undefined
  /** How long consequences may take to be seen. */
  patienceSeconds?: number | undefined
  /** Moves the clock of the server on by a second; where it cannot be moved, a second is waited for. */
  nextSecond?: () => Promise<void>
}

// A server that is prompt is asked once or twice; one on a busy machine may have much to do before.
export const usualPatienceSeconds = 60

export type Verdict = 'holds' | 'does not hold' | 'not seen'

export interface Finding {
  area: string
  contract: string
  section: string
  expects: string
  verdict: Verdict
  /** What was expected at the point where it failed, or why it could not be seen. */
  reason?: string
  /** The last question and its answer, for a failed check. */
  answered?: string
}

/** Runs every check of the chosen areas, one after the other, and tells each finding as it comes. */
export async function examine(
  target: Target,
  areas: CheckedArea[] = checkedAreas,
  tell: (finding: Finding) => void = () => {},
): Promise<Finding[]> {
  const findings: Finding[] = []
  let last: Answer | undefined
  const connection = connect({
    ca: target.ca,
    connectTo: target.connectTo,
    onAnswer: (answer) => {
      last = answer
    },
  })
  const run = randomBytes(4).toString('hex')
  let used = 0
  const { url, callsUrl, apiKey, authKey, management, patienceSeconds = usualPatienceSeconds } = target
  const server: Omit<Server, 'afterwards'> = {
    url,
    callsUrl,
    apiKey,
    authKey,
    connection,
    api: connection.caller(url, { apikey: apiKey }),
    calls: connection.caller(callsUrl, { apikey: apiKey }),
    auth: connection.caller(url, { apikey: authKey }),
    management: management && {
      api: connection.caller(management.url, { key: management.key, secret: management.secret }),
      appId: management.appId,
    },
    fresh(word) {
      used += 1
      return `conf-${run}-${word}-${used}`
    },
    soon: asking(patienceSeconds * 1000),
    nextSecond: target.nextSecond ?? realSecond,
  }
  for (const { title, contract, checks } of areas) {
    for (const { section, expects, run } of checks) {
      last = undefined
      const chores: (() => Promise<unknown>)[] = []
      const outcome = await outcomeOf(() => run({ ...server, afterwards: (work) => void chores.push(work) }))
      if (outcome.verdict === 'does not hold' && last) Object.assign(outcome, { answered: inShort(last) })
      // What a check leaves behind is removed in the opposite order; a server that fails at this too is told above.
      for (const chore of chores.toReversed()) await chore().catch(() => undefined)
      const finding = { area: title, contract, section, expects, ...outcome }
      findings.push(finding)
      tell(finding)
    }
  }
  connection.close()
  return findings
}

async function outcomeOf(run: () => Promise<void>): Promise<Pick<Finding, 'verdict' | 'reason'>> {
  try {
    await run()
    return { verdict: 'holds' }
  } catch (error) {
    const reason = error instanceof Error ? error.message || error.name : String(error)
    return { verdict: error instanceof NotSeen ? 'not seen' : 'does not hold', reason }
  }
}

const answerCharactersMax = 400

function inShort({ question, status, text }: Answer): string {
  return `${question} -> ${status} ${shortened(text, answerCharactersMax)}`
}
