import { addMissingUsers } from '../../server/src/areas/users/index.ts'
import { workIn } from '../../server/src/common/work-in.ts'
import type { House } from '../../server/src/compose.ts'
import { assertSucceeds, type Caller } from './house.ts'

const perCall = 25

/** Very many people who are in a group, made without a word to anybody. */
export async function addCrowd(
  { database, tools }: House,
  app: { id: string; caller: Caller },
  guid: string,
  uids: string[],
): Promise<void> {
  const people = uids.map((uid) => ({ uid, name: uid }))
  await database.write((connection) => addMissingUsers(workIn(connection, app.id, tools), people))
  for (let n = 0; n < uids.length; n += perCall) {
    const participants = uids.slice(n, n + perCall)
    assertSucceeds(await app.caller.post(`/groups/${guid}/members`, { participants }))
  }
}
