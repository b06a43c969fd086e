import type { Actor } from '../../kit/operation.ts'
import { mapInTurns } from '../../plain/map-in-turns.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { groupsNamedTo, type NamedGroup } from '../groups/index.ts'
import { type NamedUser, usersNamedTo } from '../users/index.ts'
import type { ListedCall } from './schemas.ts'
import type { Shown } from './store.ts'

/**
 * Calls as a user sees them in their log: with the names of those whom they may see. The stored document has none, as names
 * change and what may be seen differs from viewer to viewer.
 */

interface Names {
  users: Map<string, NamedUser>
  groups: Map<string, NamedGroup>
}

/** All names of a page are read at once, users with one statement and groups with another. */
export function shownTo(db: TenantDb, viewer: Actor): Shown {
  return async (documents) => {
    const calls = await mapInTurns(documents, (document): ListedCall => JSON.parse(document))
    const names = {
      users: await usersNamedTo(db, viewer, calls.flatMap(uidsIn)),
      groups: await groupsNamedTo(
        db,
        viewer,
        calls.filter(isOfGroup).map(({ receiver }) => receiver),
      ),
    }
    return mapInTurns(calls, (call) => JSON.stringify(withNames(call, names)))
  }
}

const isOfGroup = ({ receiverType }: ListedCall) => receiverType === 'group'

function uidsIn(call: ListedCall): string[] {
  const receiver = isOfGroup(call) ? [] : [call.receiver]
  return [call.initiator, ...receiver, ...call.participants.map(({ uid }) => uid)]
}

function withNames(call: ListedCall, { users, groups }: Names): ListedCall {
  const { initiator, receiver } = call
  return {
    ...call,
    callCategory: call.mode,
    participants: call.participants.map((entry) => ({ ...entry, ...users.get(entry.uid), hasJoined: entry.isJoined })),
    entities: {
      initiator: users.get(initiator) ?? { uid: initiator },
      receiver: isOfGroup(call)
        ? (groups.get(receiver) ?? { guid: receiver })
        : (users.get(receiver) ?? { uid: receiver }),
    },
  }
}
