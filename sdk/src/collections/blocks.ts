import { blockUsers, listBlockedUsers, unblockUsers } from '../generated/operations.ts'
import type { User } from '../generated/records.ts'
import type { UserCall } from '../http/call.ts'
import type { Frame } from '../socket/frame.ts'
import { createKeptList, type KeptList, type KeptListParts } from './kept-list.ts'
import { numbered } from './numbered.ts'
import { requireAll } from './outcomes.ts'

/** Whom the user does not want to hear of. */
export interface Blocks {
  /** The oldest block first. */
  readonly blocked: KeptList<User>
  block(uid: string): Promise<void>
  unblock(uid: string): Promise<void>
}

export function keepBlocks({ request, me, ...parts }: KeptListParts & { request: UserCall; me(): string }) {
  const list = createKeptList<User>(
    {
      idOf: ({ uid }) => uid,
      page: (page, perPage) =>
        numbered(request(listBlockedUsers, { uid: me(), direction: 'blockedByMe', page, perPage })),
    },
    parts,
  )
  const blocks: Blocks = {
    blocked: list.list,
    block: async (uid) => requireAll(await request(blockUsers, { uid: me(), blockedUids: [uid] })),
    unblock: async (uid) => requireAll(await request(unblockUsers, { uid: me(), blockedUids: [uid] })),
  }
  return {
    blocks,
    hear({ type, body }: Frame): void {
      if (type === 'user' && String(body.action).endsWith('blocked')) list.ask()
    },
    reload: list.reload,
    revive: list.revive,
    drop: list.drop,
  }
}
