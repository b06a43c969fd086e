import { createWithMembers } from '../areas/groups/index.ts'
import type { GroupCreate } from '../areas/groups/schemas.ts'
import type { Tools } from '../kit/ports.ts'
import type { Work } from '../kit/work.ts'

/** Where the demo's company meets: one group that all may enter, one with a password, one behind closed doors. */

const groups: GroupCreate[] = [
  {
    guid: 'all-hands',
    name: 'All hands',
    description: 'News for everyone, every other Thursday',
    owner: 'nora',
    tags: ['company'],
    members: {
      admins: ['milo', 'priya'],
      moderators: ['jonas'],
      participants: ['amara', 'kenji', 'luis', 'elif', 'wanjiru', 'mei'],
      usersToBan: ['omar'],
    },
  },
  {
    guid: 'support',
    name: 'Customer support',
    type: 'password',
    password: 'helpdesk',
    owner: 'priya',
    tags: ['customers'],
    members: { participants: ['luis', 'elif', 'sakura-tanaka'] },
  },
  {
    guid: 'design-team',
    name: 'Design team',
    type: 'private',
    owner: 'milo',
    metadata: { room: 'Loft' },
    members: { moderators: ['amara'], participants: ['kenji', 'nora'] },
  },
]

/** The hashes of their passwords, by GUID; made before the transaction that forms them. */
export async function hashDemoPasswords({ passwords }: Tools): Promise<Map<string, string>> {
  const hashes = new Map<string, string>()
  for (const { guid, password } of groups) if (password) hashes.set(guid, await passwords.hash(password))
  return hashes
}

export async function formDemoGroups(work: Work, hashes: Map<string, string>): Promise<void> {
  for (const group of groups) await createWithMembers(work, undefined, group, hashes.get(group.guid))
}
