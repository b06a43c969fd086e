import type { PresenceChange } from '../../kit/ports.ts'
import { type Crowd, crowdOf, type Someone } from './crowd.ts'

/** Who is connected to which node, as this one knows it. Somebody is connected as long as any node has them. */
export interface PresenceNodes {
  online(appId: string): ReadonlySet<string>
  usersOf(node: string): Iterable<Someone>
  /** Somebody came to a node, or went from it; whether that was not known. */
  change(node: string, change: PresenceChange): boolean
  /** A node has exactly these users. */
  replace(node: string, users: Iterable<Someone>, at: number): void
  /** A node is no more. Of those whom it had at last, and this node has not heard of, their going is told too. */
  drop(node: string, how: { at: number; isOurs: boolean; users?: Iterable<Someone> }): void
}

export function presenceNodes(tell: (change: PresenceChange) => void): PresenceNodes {
  const crowds = new Map<string, Crowd>()
  const connected = crowdOf()

  function crowdAt(node: string): Crowd {
    const crowd = crowds.get(node) ?? crowdOf()
    crowds.set(node, crowd)
    return crowd
  }

  const isAnywhere = (appId: string, uid: string) => [...crowds.values()].some((crowd) => crowd.has(appId, uid))

  function change(node: string, told: PresenceChange): boolean {
    const { appId, uid, isOnline } = told
    const crowd = crowdAt(node)
    if (isOnline ? !crowd.add(appId, uid) : !crowd.delete(appId, uid)) return false
    if (isOnline ? connected.add(appId, uid) : !isAnywhere(appId, uid) && connected.delete(appId, uid)) tell(told)
    return true
  }

  return {
    online: connected.of,
    usersOf: (node) => crowds.get(node)?.each() ?? [],
    change,
    replace(node, users, at) {
      const now = crowdOf(users)
      const gone = [...crowdAt(node).each()].filter(([appId, uid]) => !now.has(appId, uid))
      for (const [appId, uid] of gone) change(node, { appId, uid, isOnline: false, at, isOurs: false })
      for (const [appId, uid] of now.each()) change(node, { appId, uid, isOnline: true, at, isOurs: false })
    },
    drop(node, { at, isOurs, users = [] }) {
      const known = crowdAt(node)
      crowds.delete(node)
      const told = (appId: string, uid: string) => tell({ appId, uid, isOnline: false, at, isOurs })
      for (const [appId, uid] of known.each()) {
        if (!isAnywhere(appId, uid) && connected.delete(appId, uid)) told(appId, uid)
      }
      for (const [appId, uid] of users) {
        if (!known.has(appId, uid) && !isAnywhere(appId, uid)) told(appId, uid)
      }
    },
  }
}
