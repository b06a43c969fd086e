import { type Place, placeOfGroup, placeOfUsers, placesNamed } from '../../server/src/areas/timeline/index.ts'
import type { Random } from './random.ts'

/**
 * Ids of users and groups that are chosen so that whatever is made of them reads alike: the ids of conversations above
 * all, and any two of them that are put side by side.
 */

const pieces = ['group', 'user', '_user_', 'group_', 'app_system', '_', '-', 'a', 'b', 'user_', '_user', '0', '1']
const knownTexts = [
  'group_admin_user_zoe',
  'team_user_zoe_user_yan',
  'group_user_zoe',
  'app_system_user_q_user_z',
  '_user_user__user_user_',
  'group_group_user_user_user_group',
]

/** A text that several conversations have as their id. */
export function ambiguousId(random: Random): string {
  for (;;) {
    const text = Array.from({ length: random.whole(3, 9) }, () => random.pick(pieces)).join('')
    if (placesNamed(text).filter(canExist).length > 1) return text
  }
}

/** The app speaks, but is nobody's user, and notes to oneself have nobody to listen. */
export function canExist({ type, first, second }: Place): boolean {
  return type === 'group' || (first !== second && ![first, second].includes('app_system'))
}

export interface Hostile {
  conversationIds: string[]
  places: Place[]
  uids: string[]
  guids: string[]
}

/** Everybody who can be meant by some texts, and so many made-up ones more. */
export function hostileIds(random: Random, more: number): Hostile {
  const conversationIds = [...new Set([...knownTexts, ...Array.from({ length: more }, () => ambiguousId(random))])]
  // Side by side, the GUID `x` and the UID `yz` read as `xy` and `z` do.
  const sideBySide = [placeOfGroup('x'), placeOfGroup('xy'), placeOfUsers('yz', 'z')]
  const places = [...conversationIds.flatMap(placesNamed).filter(canExist), ...sideBySide]
  const users = places.filter(({ type }) => type === 'user').flatMap(({ first, second }) => [first, second])
  const groups = places.filter(({ type }) => type === 'group').map(({ first }) => first)
  return { conversationIds, places, uids: [...new Set(users)], guids: [...new Set(groups)] }
}

/** The same id in another letter case, as anybody may write it. */
export function anyCase(random: Random, id: string): string {
  return random.chance(0.2) ? id.toUpperCase() : id
}
