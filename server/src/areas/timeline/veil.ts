import type { Actor } from '../../kit/operation.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { everyone, sightOf, usersWithin, withUsersVeiled } from '../users/index.ts'
import type { Message } from './schemas.ts'

/** Messages as a viewer may see them: of users whom they may not get by UID, nothing but the UID is in them. */
export async function veilFor(db: TenantDb, viewer: Actor | undefined, messages: Message[]): Promise<Message[]> {
  const sees = await sightOf(db, viewer, () => messages.flatMap(usersWithin).map(({ uid }) => uid))
  return sees === everyone ? messages : messages.map((message) => withUsersVeiled(message, (uid) => !sees(uid)))
}
