import type { LiveGroup } from '@parley/sdk'
import type { Member } from '@parley/sdk/api'
import type { Scope } from '../groups/rights.ts'
import type { Question } from '../parts/confirm-dialog.tsx'

/** What is asked before something is done to a member. */

const abilities: Record<Scope, string> = {
  admin: 'Admins add and remove members, change what others may do, and can delete the group.',
  moderator: 'Moderators remove and ban participants, and edit the group.',
  participant: 'Participants read and write.',
}

export function questionsAbout(group: LiveGroup, { uid, name }: Member) {
  const scope = (wanted: Scope): Question => ({
    title: `Make ${name} ${wanted}?`,
    text: abilities[wanted],
    yes: `Make ${wanted}`,
    act: () => group.changeScope(uid, wanted),
  })
  const handOver: Question = {
    title: `Make ${name} the owner?`,
    text: 'You stay an admin. Only they can give the group back to you.',
    yes: 'Hand the group over',
    act: () => group.transferOwnership(uid),
  }
  const kick: Question = {
    title: `Remove ${name}?`,
    text: 'They can come back, if the group lets them in.',
    yes: 'Remove',
    act: () => group.kick(uid),
  }
  const ban: Question = {
    title: `Ban ${name}?`,
    text: 'They are removed, and cannot come back until the ban is lifted.',
    yes: 'Ban',
    act: () => group.ban(uid),
  }
  return { scope, handOver, kick, ban }
}
