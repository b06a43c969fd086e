import { type AppState, type Keyed, without } from './state.ts'

/** What lists show: nobody who is deactivated is anybody's friend, or blocked, until they are back. */
export function shownOf(copy: AppState): AppState {
  const away = Object.values(copy.users).filter(({ deactivatedAt }) => deactivatedAt !== undefined)
  const uids = away.map(({ uid }) => uid)
  const present = (lists: Keyed<Keyed>) =>
    Object.fromEntries(Object.entries(without(lists, ...uids)).map(([uid, list]) => [uid, without(list, ...uids)]))
  return { ...copy, friends: present(copy.friends), blocks: present(copy.blocks) }
}
