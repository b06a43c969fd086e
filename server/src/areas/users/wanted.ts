import { facetTotals } from '../../storage/tally.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import type { UserListQuery } from './schemas.ts'
import { usersList } from './store.ts'

/** Who asks for a list, and what their role lets them see. */
export interface ViewerOfUsers {
  uid: string
  friendsOnly: boolean
  /** Roles that may be seen; all when empty. */
  roles: string[]
}

/** Which part of a list. */
export interface SliceOfUsers {
  limit: number
  offset: number
}

/** What the kept counts know about the users a list asks for. */
export interface WantedUsers {
  /** Combinations of role and deactivation that are asked for, and how many users have one of them. */
  facets: string[]
  total: number
  /** The other combinations there are. */
  unwanted: string[]
  /** How many users the app has. */
  all: number
}

export async function wantedFacets(
  db: TenantDb,
  query: UserListQuery,
  viewer: ViewerOfUsers | undefined,
): Promise<WantedUsers> {
  const roles = wantedRoles(query, viewer)
  const wants = (facets: string) => {
    const [role = '', deactivated] = facets.split('|')
    return (
      (roles === undefined || roles.has(role)) &&
      (query.onlyDeactivated ? deactivated === '1' : query.withDeactivated || deactivated === '0')
    )
  }
  const combinations = await facetTotals(db, usersList, [undefined, undefined])
  const wanted = combinations.filter(({ facets }) => wants(facets))
  return {
    facets: wanted.map(({ facets }) => facets),
    total: sum(wanted),
    unwanted: combinations.filter(({ facets }) => !wants(facets)).map(({ facets }) => facets),
    all: sum(combinations),
  }
}

function sum(counts: { n: number }[]): number {
  return counts.reduce((total, { n }) => total + n, 0)
}

function wantedRoles({ role, roles = [] }: UserListQuery, viewer: ViewerOfUsers | undefined): Set<string> | undefined {
  const asked = [...roles, ...(role === undefined ? [] : [role])].map((each) => each.toLowerCase())
  const allowed = viewer?.roles ?? []
  if (asked.length === 0 && allowed.length === 0) return undefined
  if (asked.length === 0) return new Set(allowed)
  return new Set(allowed.length === 0 ? asked : asked.filter((each) => allowed.includes(each)))
}
