import { uidAt } from '../../../bench/load-users.ts'
import { type Abuses, turn } from './abuse.ts'
import { foldingWords, metadata, shortTags, shortWords, webAddress, words } from './largest.ts'
import { abuserAt, busyUser, club, crowd, crowdSize, doomed, groupsCount, locked, password } from './people.ts'

const perPage = 1_000
const membersAtOnce = 25
const guidsAtOnce = 25

const guests = (n: number) => Array.from({ length: membersAtOnce }, (_, k) => uidAt(crowdSize + n * membersAtOnce + k))
// Members of the crowd, other ones for each thing that is done to them.
const member = (first: number) => (n: number) => uidAt(first + (n % 2_000))
const [promoted, kicked, banned, bannedAgain] = [member(1_000), member(4_000), member(7_000), member(10_000)]

const profile = (n: number) => ({
  name: `${n} `.padEnd(100, 'name '),
  icon: webAddress,
  description: 'd'.repeat(255),
  metadata: metadata(n),
  tags: shortTags(n),
})

const banList = { perPage, page: 1, searchKey: 'a' }

export const groups: Abuses = {
  createGroup: [
    {
      most: 'a password to hash, as many members as there may be at once, and as much metadata',
      ask: (_, n) => ({
        as: abuserAt(n),
        body: {
          guid: `made-${n}`,
          ...profile(n),
          type: 'password',
          password,
          members: { participants: guests(n % 100) },
        },
      }),
      keep: ({ made }, _, { as, body }) => made.groups.push({ guid: String(body?.guid), owner: as }),
    },
  ],
  listGroups: [
    {
      most: 'letters that all groups have, in the order of names, every filter, and a page far from the beginning',
      ask: (_, n) => ({
        as: busyUser,
        query: {
          ...{ searchKey: 'c', sortBy: 'name', sortOrder: 'desc', tags: words('urgent', 'quiet'), withTags: true },
          ...{ types: 'public,password', 'membersCount[gte]': 0, 'membersCount[lt]': 100_000, 'createdAt[from]': 1 },
          ...{ perPage, page: 1 + (n % (groupsCount / perPage)) },
        },
      }),
    },
    {
      most: 'groups by their size, which no index has in order',
      ask: () => ({ as: busyUser, query: { 'membersCount[lt]': 1, sortBy: 'name', perPage, page: 9 } }),
    },
    {
      most: 'many short words, each of which has to be looked for',
      ask: () => ({ as: busyUser, query: { perPage, searchKey: shortWords } }),
    },
    {
      most: 'a key that grows eighteenfold when it is folded',
      ask: () => ({ as: busyUser, query: { perPage, searchKey: foldingWords } }),
    },
  ],
  countOnlineMembers: [
    {
      most: 'as many groups as there may be, the largest among them',
      ask: () => ({
        as: busyUser,
        query: { guids: [crowd, club, ...Array.from({ length: guidsAtOnce - 2 }, (_, n) => `club-${n}`)].join() },
      }),
    },
  ],
  getGroup: [
    { most: 'the largest group, half of it connected', ask: () => ({ as: busyUser, params: { guid: crowd } }) },
  ],
  updateGroup: [
    {
      most: 'another name to be found by and as much metadata as there may be, told to the largest group',
      ask: (_, n) => ({ as: busyUser, params: { guid: crowd }, body: profile(n) }),
    },
  ],
  transferOwnership: [
    {
      most: 'a group with members, passed on by its owner',
      ask({ made }, n) {
        const { guid, owner } = turn(made.groups, n)
        return { as: owner, params: { guid }, body: { uid: guests(Number(guid.split('-')[1]) % 100)[0] } }
      },
    },
  ],
  addMembers: [
    {
      most: 'as many as there may be at once, into the largest group',
      ask: (_, n) => ({ as: busyUser, params: { guid: crowd }, body: { participants: guests(200 + n) } }),
    },
    {
      most: 'joining, with a wrong password to hash',
      ask: (_, n) => ({
        as: abuserAt(n + 300),
        params: { guid: locked },
        body: { participants: [abuserAt(n + 300)], password: `wrong ${n}` },
      }),
      refusal: 403,
    },
  ],
  listMembers: [
    {
      most: 'the largest group, searched for a letter, every filter, and a page far from the beginning',
      ask: (_, n) => ({
        as: busyUser,
        params: { guid: crowd },
        query: { searchKey: 'a', status: 'offline', scopes: 'participant', perPage, page: 1 + (n % 8) },
      }),
    },
    {
      most: 'the last page of the largest group',
      ask: () => ({ as: busyUser, params: { guid: crowd }, query: { perPage, page: crowdSize / perPage } }),
    },
  ],
  getMember: [
    {
      most: 'one of the largest group',
      ask: (_, n) => ({ as: busyUser, params: { guid: crowd, uid: promoted(n) } }),
    },
  ],
  changeMemberScope: [
    {
      most: 'in the largest group, and told to all of it',
      ask: (_, n) => ({ as: busyUser, params: { guid: crowd, uid: promoted(n) }, body: { scope: 'moderator' } }),
    },
  ],
  kickMember: [
    {
      most: 'from the largest group, and told to all of it',
      ask: (_, n) => ({ as: busyUser, params: { guid: crowd, uid: kicked(n) } }),
    },
  ],
  leaveGroup: [
    { most: 'the largest group, and told to all of it', ask: (_, n) => ({ as: abuserAt(n), params: { guid: crowd } }) },
  ],
  joinGroup: [
    {
      most: 'a password to hash',
      ask: (_, n) => ({ as: abuserAt(n), params: { guid: locked }, body: { password } }),
    },
    {
      most: 'a wrong password to hash',
      ask: (_, n) => ({ as: abuserAt(n + 200), params: { guid: locked }, body: { password: `wrong ${n}` } }),
      refusal: 403,
    },
    { most: 'the largest group, and told to all of it', ask: (_, n) => ({ as: abuserAt(n), params: { guid: crowd } }) },
  ],
  banUser: [
    {
      most: 'from the largest group, and told to all of it',
      ask: (_, n) => ({ as: busyUser, params: { guid: crowd, uid: banned(n) } }),
    },
  ],
  listBannedUsers: [
    { most: 'searched for a letter', ask: () => ({ as: busyUser, params: { guid: crowd }, query: banList }) },
  ],
  unbanUser: [
    {
      most: 'in the largest group, and told to all of it',
      ask: (_, n) => ({ as: busyUser, params: { guid: crowd, uid: banned(n) } }),
    },
  ],
  banMember: [
    {
      most: 'from the largest group, and told to all of it',
      ask: (_, n) => ({ as: busyUser, params: { guid: crowd, uid: bannedAgain(n) } }),
    },
  ],
  listBannedMembers: [
    { most: 'searched for a letter', ask: () => ({ as: busyUser, params: { guid: crowd }, query: banList }) },
  ],
  unbanMember: [
    {
      most: 'in the largest group, and told to all of it',
      ask: (_, n) => ({ as: busyUser, params: { guid: crowd, uid: bannedAgain(n) } }),
    },
  ],
  deleteGroup: [
    {
      most: 'first one as large as the largest, with all that was said there, then others with members',
      ask({ made }, n) {
        if (n === 0) return { as: busyUser, params: { guid: doomed } }
        const { guid, owner } = turn(made.groups, n)
        return { as: owner, params: { guid } }
      },
    },
  ],
}
