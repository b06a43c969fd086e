import type { Group, Member } from '@parley/sdk/api'

/** What somebody may do in a group. The server decides; this is for not offering what it would refuse. */

export type Scope = Member['scope']

export interface Standing {
  isOwner: boolean
  /** None, for whoever is not in the group. */
  scope?: Scope
}

const scopes: readonly Scope[] = ['admin', 'moderator', 'participant']

export function ownStanding({ owner, scope }: Group, uid: string): Standing {
  return { isOwner: owner === uid, ...(scope && { scope }) }
}

const isAdmin = ({ isOwner, scope }: Standing) => isOwner || scope === 'admin'
const isModerator = ({ isOwner, scope }: Standing) => isOwner || scope === 'admin' || scope === 'moderator'

export const mayAdd = isAdmin
export const mayDelete = isAdmin
export const mayEdit = isModerator
export const mayLiftBans = isModerator
export const mayHandOver = ({ isOwner }: Standing) => isOwner

/** An owner hands the group over first. */
export const mayLeave = ({ isOwner, scope }: Standing) => scope !== undefined && !isOwner

export function mayRemove(own: Standing, other: Standing): boolean {
  if (other.isOwner) return false
  return isAdmin(own) || (own.scope === 'moderator' && other.scope === 'participant')
}

/** What they can be made instead. */
export function otherScopes(own: Standing, other: Standing): Scope[] {
  if (other.isOwner) return []
  const rest = scopes.filter((scope) => scope !== other.scope)
  if (own.isOwner) return rest
  if (own.scope === 'admin') return other.scope === 'admin' ? [] : rest
  return own.scope === 'moderator' && other.scope === 'participant' ? ['moderator'] : []
}
