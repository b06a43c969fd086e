import { uidAt } from '../../../bench/load-users.ts'
import type { Abuses } from './abuse.ts'
import { foldingWords, longWord, metadata, shortTags, shortWords, webAddress, words } from './largest.ts'
import { abuserAt, busyUser, usersCount } from './people.ts'

const perPage = 1_000

// As many as a body holds.
const blockedAtOnce = 650
const blocked = (n: number) => Array.from({ length: blockedAtOnce }, (_, k) => uidAt((n * 37 + k) % usersCount))

const filters = {
  withTags: true,
  withDeactivated: true,
  hideBlockedUsers: true,
  roles: words('default'),
  tags: words('everyone', 'pilot'),
  perPage,
}

export const users: Abuses = {
  listUsers: [
    {
      most: 'letters that nearly everybody has, every filter, and a page far from the beginning',
      ask: (_, n) => ({ as: busyUser, query: { ...filters, searchKey: 'a', page: 1 + (n % 50) } }),
    },
    {
      most: 'many short words, each of which has to be looked for',
      ask: () => ({ as: busyUser, query: { perPage, searchKey: shortWords } }),
    },
    {
      most: 'a key that grows eighteenfold when it is folded',
      ask: () => ({ as: busyUser, query: { perPage, searchKey: foldingWords } }),
    },
    {
      most: 'the longest word there can be, of grams that are everywhere',
      ask: () => ({ as: busyUser, query: { perPage, searchKey: longWord } }),
    },
    {
      most: 'the last page of everybody, as large as it can be',
      ask: () => ({ as: busyUser, query: { perPage, page: usersCount / perPage, withTags: true } }),
    },
    {
      most: 'half of all users are connected, and all of them are counted',
      ask: () => ({ as: busyUser, query: { status: 'online', tags: 'everyone', hideBlockedUsers: true, count: true } }),
    },
  ],
  countOnlineUsers: [{ most: 'half of all users are connected', ask: () => ({ as: busyUser }) }],
  getUser: [
    {
      most: 'a user with as much metadata as there may be',
      ask: (_, n) => ({ as: abuserAt(n), params: { uid: abuserAt(n + 1) } }),
    },
  ],
  getMe: [{ most: 'a user with as much metadata as there may be', ask: (_, n) => ({ as: abuserAt(n) }) }],
  updateMe: [
    {
      most: 'another name to be found by, as much metadata and as many tags as there may be',
      ask: (_, n) => ({
        as: abuserAt(n),
        body: {
          name: `${n} `.padEnd(100, `name${n % 97} `),
          avatar: webAddress,
          link: webAddress,
          statusMessage: 's'.repeat(255),
          metadata: metadata(n),
          tags: shortTags(n),
        },
      }),
    },
  ],
  blockUsers: [
    {
      most: 'as many users as the body holds, each told of beside one with as much metadata as there may be',
      ask: (_, n) => ({ as: abuserAt(n), params: { uid: abuserAt(n) }, body: { blockedUids: blocked(n) } }),
    },
  ],
  listBlockedUsers: [
    {
      most: 'all blocks of a user with as many as there may be, in both directions, searched for a letter',
      ask: () => ({ as: busyUser, params: { uid: busyUser }, query: { perPage, searchKey: 'a', direction: 'both' } }),
    },
  ],
  unblockUsers: [
    {
      most: 'as many users as the body holds, each told of beside one with as much metadata as there may be',
      ask: (_, n) => ({ as: abuserAt(n), params: { uid: abuserAt(n) }, body: { blockedUids: blocked(n) } }),
    },
  ],
  getMySettings: [{ most: 'it takes nothing', ask: (_, n) => ({ as: abuserAt(n) }) }],
}
