import {
  type AddMembersInput,
  addMembers,
  banUser,
  changeMemberScope,
  deleteGroup,
  getGroup,
  getMember,
  joinGroup,
  kickMember,
  leaveGroup,
  listBannedUsers,
  listMembers,
  transferOwnership,
  type UpdateGroupInput,
  unbanUser,
  updateGroup,
} from '../generated/operations.ts'
import type { BannedUser, Group, Member } from '../generated/records.ts'
import { done, type UserCall } from '../http/call.ts'
import type { Frame } from '../socket/frame.ts'
import type { Readable } from '../store/cell.ts'
import type { Conversation } from './conversation.ts'
import { createKeptList, type KeptList, type KeptListParts } from './kept-list.ts'
import { numbered } from './numbered.ts'
import { requireAll } from './outcomes.ts'
import { isComing, memberIn, ownPassage } from './passages.ts'

/** A group, and who is in it. What is done here shows when it is told, as to everybody else. */
export interface LiveGroup {
  readonly guid: string
  readonly conversation: Conversation
  /** Its name, what the user may do in it, and so on; nothing before it was fetched, or where it is not to be seen. */
  readonly details: Readable<Group | undefined>
  /** The latest to join first. */
  readonly members: KeptList<Member>
  /** For moderators and admins. */
  readonly banned: KeptList<BannedUser>
  join(password?: string): Promise<void>
  leave(): Promise<void>
  /** As participants, unless said otherwise; rejects with the first of them who was refused. */
  add(uids: readonly string[], scope?: Member['scope']): Promise<void>
  kick(uid: string): Promise<void>
  ban(uid: string): Promise<void>
  unban(uid: string): Promise<void>
  changeScope(uid: string, scope: Member['scope']): Promise<void>
  transferOwnership(uid: string): Promise<void>
  update(changes: Omit<UpdateGroupInput, 'guid'>): Promise<void>
  delete(): Promise<void>
}

export interface KeptGroup {
  readonly group: LiveGroup
  hear(frame: Frame): void
  reload(): Promise<void>
  revive(): void
  drop(): void
}

interface GroupParts extends KeptListParts {
  request: UserCall
  me(): string
}

const uidOf = ({ uid }: { uid: string }) => uid

export function keepGroup(guid: string, conversation: Conversation, parts: GroupParts): KeptGroup {
  const { request, me } = parts
  const details = createKeptList<Group>(
    {
      idOf: (group) => group.guid,
      page: async () => ({ items: [await request(getGroup, { guid })], hasMore: false }),
    },
    parts,
  )
  const members = createKeptList<Member>(
    {
      idOf: uidOf,
      page: (page, perPage) => numbered(request(listMembers, { guid, page, perPage })),
      one: (uid) => request(getMember, { guid, uid }),
    },
    parts,
  )
  const banned = createKeptList<BannedUser>(
    { idOf: uidOf, page: (page, perPage) => numbered(request(listBannedUsers, { guid, page, perPage })) },
    parts,
  )
  const all = [details, members, banned]

  function hearPresence({ user, action }: Frame['body']): void {
    const { uid, lastActiveAt } = user as Member
    const status = action === 'online' ? 'available' : 'offline'
    members.change((each) => (each.uid === uid ? withPresence(each, status, lastActiveAt) : each))
  }

  function hearGroup({ action, uid, oldOwner, group }: Frame['body']): void {
    const changed = action === 'ownerChanged' ? [oldOwner, (group as Group).owner] : [uid]
    for (const each of changed as string[]) if (members.has(each)) members.ask(each)
  }

  return {
    group: {
      ...{ guid, conversation },
      details: { get: () => details.list.get().items[0], subscribe: details.list.subscribe },
      members: members.list,
      banned: banned.list,
      join: (password) => done(request(joinGroup, { guid, ...(password !== undefined && { password }) })),
      leave: () => done(request(leaveGroup, { guid })),
      async add(uids, scope = 'participant') {
        const kind = `${scope}s` as const
        const asked: AddMembersInput = { guid, [kind]: [...uids] }
        requireAll((await request(addMembers, asked))[kind])
      },
      kick: (uid) => done(request(kickMember, { guid, uid })),
      ban: (uid) => done(request(banUser, { guid, uid })),
      unban: (uid) => done(request(unbanUser, { guid, uid })),
      changeScope: (uid, scope) => done(request(changeMemberScope, { guid, uid, scope })),
      transferOwnership: (uid) => done(request(transferOwnership, { guid, uid })),
      update: (changes) => done(request(updateGroup, { ...changes, guid })),
      delete: () => done(request(deleteGroup, { guid })),
    },
    hear(frame) {
      if (frame.type === 'presence') return hearPresence(frame.body)
      // What else is said in it changes nothing of the group.
      const member = memberIn(frame)
      if (!member && frame.type !== 'group') return
      details.ask()
      if (ownPassage(frame, me())) for (const each of [members, banned]) each.ask()
      else if (!member) hearGroup(frame.body)
      else {
        const { uid = '', action } = member
        if (isComing(action) || members.has(uid)) members.ask(uid)
        if (action.endsWith('banned')) banned.ask()
      }
    },
    async reload() {
      await Promise.all(all.map((each) => each.reload()))
    },
    revive() {
      for (const each of all) each.revive()
      // Who came and went meanwhile is not told later.
      if (members.list.get().status === 'ready') members.ask()
    },
    drop() {
      for (const each of all) each.drop()
    },
  }
}

function withPresence(member: Member, status: Member['status'], lastActiveAt: number | undefined): Member {
  return Object.freeze({ ...member, status, ...(lastActiveAt !== undefined && { lastActiveAt }) })
}
