import { randomBytes } from 'node:crypto'
import { eachItem } from '../../common/each.ts'
import type { ServiceAddress } from '../../kit/ports.ts'
import type { Work } from '../../kit/work.ts'
import { originOf } from '../../plain/place.ts'
import { type Accounts, admit, dismiss, firstLists, namedIn, requireAddress, roleOf, type Team } from './rules.ts'
import { type ListName, listNames, type TeamChange, type TeamOutcomes } from './schemas.ts'
import { holdCollaborators, storeTeam } from './store.ts'

const invitationBytes = 32

// Whoever goes makes room for those who come with the same request.
const inTurn = listNames.toSorted((a, b) => Number(isAddition(a)) - Number(isAddition(b)))

function isAddition(list: ListName): list is keyof typeof roleOf {
  return list in roleOf
}

/** Adds, moves and removes, and tells for each address of each list what became of it. */
export async function changeTeam(
  work: Work,
  change: TeamChange,
  accounts: Accounts,
  hasAccount: (address: string) => boolean,
): Promise<TeamOutcomes> {
  const before = await holdCollaborators(work.db)
  const team: Team = new Map(before.map(({ email, role }) => [email, role]))
  const first = firstLists(change)
  const outcomes: TeamOutcomes = { admins: {}, developers: {}, moderators: {}, collaboratorsToRemove: {} }
  for (const list of inTurn) {
    const act = (name: string) => {
      requireAddress(name, list, first)
      return isAddition(list) ? admit(team, name, roleOf[list], accounts) : dismiss(team, name)
    }
    outcomes[list] = await eachItem(namedIn(change, list), act, 'mgmt-api')
  }
  const tokens = invite(outcomes, hasAccount, work.tools.place)
  const invitations = [...tokens].map(([address, token]) => [address, hashOf(work, token)] as const)
  await storeTeam(work, before, team, new Map(invitations))
  return outcomes
}

/** Puts a link into the outcome of everyone who was added and has no account; answers what the links end in. */
function invite(
  { collaboratorsToRemove: _, ...additions }: TeamOutcomes,
  hasAccount: (address: string) => boolean,
  place: ServiceAddress,
): Map<string, string> {
  const tokens = new Map<string, string>()
  for (const [address, outcome] of Object.values(additions).flatMap((each) => Object.entries(each))) {
    if (!outcome.success || hasAccount(address)) continue
    const token = randomBytes(invitationBytes).toString('base64url')
    outcome.inviteUrl = inviteUrl(place, token)
    tokens.set(address, token)
  }
  return tokens
}

function inviteUrl(place: ServiceAddress, token: string): string {
  return `${originOf(place, 'apimgmt')}/invitations/${token}`
}

// No other fingerprint of the install is made of a text that begins like this.
function hashOf({ tools }: Work, token: string): string {
  return tools.secrets.fingerprint(`invitation ${token}`)
}
