import { quotaReached } from '../../common/refusals.ts'
import { badRequest } from '../../kit/errors.ts'
import { alreadyAnOwner, notACollaborator, selfActionDenied } from './errors.ts'
import { type ListName, listNames, type TeamChange, type TeamRole } from './schemas.ts'

const collaboratorsMax = 25

// ASCII alone: beyond it, two addresses can become one when letter case is ignored.
const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const addressForm = new RegExp(`^[A-Za-z0-9.!#$%&'*+/=?^_\`{|}~-]{1,64}@${label}(?:\\.${label})*$`)

export const roleOf = { admins: 'admin', developers: 'developer', moderators: 'moderator' } as const satisfies Record<
  Exclude<ListName, 'collaboratorsToRemove'>,
  TeamRole
>

/** The roles of a team by address. */
export type Team = Map<string, TeamRole>

/** Whose app it is, and who asks. */
export interface Accounts {
  owner: string
  caller: string
}

/** What a list names: addresses as they are known, in lower case, and whatever is none as it was sent. */
export function namedIn(change: TeamChange, list: ListName): string[] {
  return (change[list] ?? []).map((text) => {
    const trimmed = text.trim()
    return isAddress(trimmed) ? trimmed.toLowerCase() : trimmed
  })
}

export function isAddress(text: string): boolean {
  return addressForm.test(text)
}

/** For each address the first list that names it. */
export function firstLists(change: TeamChange): Map<string, ListName> {
  const first = new Map<string, ListName>()
  for (const list of listNames) {
    for (const name of namedIn(change, list)) {
      if (isAddress(name) && !first.has(name)) first.set(name, list)
    }
  }
  return first
}

export function requireAddress(name: string, list: ListName, first: Map<string, ListName>): void {
  if (!isAddress(name)) throw badRequest({ [name]: ['must be an e-mail address'] })
  const counts = first.get(name)
  if (counts !== list) throw badRequest({ [name]: [`is named in ${counts} already`] })
}

/** Gives the address a role, another one or its first. */
export function admit(team: Team, address: string, role: TeamRole, { owner, caller }: Accounts): string {
  if (address === owner) throw alreadyAnOwner({ address })
  if (address === caller) throw selfActionDenied({ address })
  if (!team.has(address) && team.size >= collaboratorsMax) {
    throw quotaReached({ limit: `${collaboratorsMax} collaborators per app` })
  }
  team.set(address, role)
  return `${address} is a collaborator with the role ${role}.`
}

export function dismiss(team: Team, address: string): string {
  if (!team.delete(address)) throw notACollaborator({ address })
  return `${address} is no longer a collaborator.`
}
