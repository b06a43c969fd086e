import {
  type CheckedArea,
  check,
  data,
  doneEntry,
  equal,
  failedEntry,
  failure,
  holds,
  isSeconds,
  NotSeen,
  type Server,
  says,
  success,
} from '../check.ts'
import type { Caller } from '../client.ts'

const max = 25

interface Team {
  api: Caller
  appId: string
  path: string
  /** Addresses that nobody has used; whoever is added with one is removed after the check. */
  addresses(count: number): string[]
}

/** The management door, and the team of the app under test. */
function teamOf(server: Server): Team {
  if (!server.management) throw new NotSeen('the suite was not given the management door')
  const { api, appId } = server.management
  const path = `/apps/${appId}/collaborators`
  const addresses = (count: number) => {
    const fresh = Array.from({ length: count }, () => `${server.fresh('person')}@conformance.example`)
    server.afterwards(() => api.post(path, { collaboratorsToRemove: fresh }))
    return fresh
  }
  return { api, appId, path, addresses }
}

interface Shown {
  id: string
  name: string
  email: string
  role: string
  createdAt: number
}

/** Those of the team who have one of these addresses. */
async function shownOf({ api, path }: Team, emails: string[]): Promise<Shown[]> {
  return data(await api.get(path)).filter(({ email }: Shown) => emails.includes(email))
}

export const collaborators: CheckedArea = {
  name: 'collaborators',
  title: 'Collaborators',
  contract: '22.5',
  checks: [
    check('22.5 Change', 'answers for each address under its list, and knows the role afterwards', async (server) => {
      const team = teamOf(server)
      const { api, path, addresses } = team
      const emails = addresses(3)
      const [admin = '', developer = '', moderator = ''] = emails
      const body = { admins: [admin], developers: [developer], moderators: [moderator] }
      const outcomes = data(await api.post(path, body))
      const lists = ['admins', 'collaboratorsToRemove', 'developers', 'moderators']
      equal(Object.keys(outcomes).toSorted(), lists, 'the lists that are answered')
      doneEntry(outcomes.admins[admin], 'an admin')
      doneEntry(outcomes.developers[developer], 'a developer')
      doneEntry(outcomes.moderators[moderator], 'a moderator')
      equal(outcomes.collaboratorsToRemove, {}, 'a list that names nobody')
      const shown = await shownOf(team, emails)
      const roles = Object.fromEntries(shown.map(({ email, role }) => [email, role]))
      const expected = { [admin]: 'admin', [developer]: 'developer', [moderator]: 'moderator' }
      equal(shown.length, 3, 'how many of them are listed')
      for (const [email, role] of Object.entries(expected)) equal(roles[email], role, `the role of ${email}`)
      for (const { id, name, createdAt } of shown) {
        equal([typeof id, typeof name], ['string', 'string'], 'the types of `id` and `name`')
        holds(isSeconds(createdAt), '`createdAt` is in seconds')
      }
    }),
    check('22.5 List', 'comes in pages', async (server) => {
      const { api, path, addresses } = teamOf(server)
      data(await api.post(path, { moderators: addresses(2) }))
      const { data: all, meta } = success(await api.get(path))
      const { total, count, per_page } = meta.pagination
      equal([total, count, per_page], [all.length, all.length, 100], '`total`, `count` and `per_page`')
      equal(data(await api.get(`${path}?per_page=1&page=2`)), all.slice(1, 2), 'the second page of one')
    }),
    check('22.5 Change', 'an address is the same in any letter case, and moves between roles', async (server) => {
      const team = teamOf(server)
      const { api, path, addresses } = team
      const [email = ''] = addresses(1)
      data(await api.post(path, { admins: [email] }))
      doneEntry(data(await api.post(path, { moderators: [email.toUpperCase()] })).moderators[email], 'the move')
      const roles = (await shownOf(team, [email])).map(({ role }) => role)
      equal(roles, ['moderator'], 'the roles that are listed for the address')
    }),
    check('22.5 Remove', 'collaborators go, and strangers are told of', async (server) => {
      const team = teamOf(server)
      const { api, path, addresses } = team
      const [email = '', stranger = ''] = addresses(2)
      data(await api.post(path, { admins: [email] }))
      const { collaboratorsToRemove } = data(await api.post(path, { collaboratorsToRemove: [email, stranger] }))
      doneEntry(collaboratorsToRemove[email], 'the collaborator')
      failedEntry(collaboratorsToRemove[stranger], 'ERR_NOT_A_COLLABORATOR', 'the stranger')
      equal(await shownOf(team, [email]), [], 'who is listed after that')
    }),
    check('22.5 Invite', 'an address without an account gets a link of its own each time', async (server) => {
      const { api, path, addresses } = teamOf(server)
      const [email = ''] = addresses(1)
      const linkOf = async () => data(await api.post(path, { admins: [email] })).admins[email]?.inviteUrl
      const [first, second] = [await linkOf(), await linkOf()]
      for (const link of [first, second]) holds(URL.canParse(link), '`inviteUrl` is an address')
      holds(first !== second, 'every link is another one')
    }),
    check('22.9 Errors', 'the owner cannot be a collaborator', async (server) => {
      const { api, appId, path } = teamOf(server)
      const { email } = data(await api.get(`/apps/${appId}`)).appOwner
      const entry = data(await api.post(path, { admins: [email] })).admins[email]
      failedEntry(entry, 'ERR_ALREADY_AN_OWNER', 'the owner')
      says(entry.error, 'already')
    }),
    check('22.9 Errors', 'the 26th collaborator does not fit', async (server) => {
      const { api, path, addresses } = teamOf(server)
      const { total } = success(await api.get(`${path}?perPage=1`)).meta.pagination
      const emails = addresses(max - total + 1)
      const { admins } = data(await api.post(path, { admins: emails }))
      for (const email of emails.slice(0, -1)) doneEntry(admins[email], email)
      failedEntry(admins[emails.at(-1) ?? ''], 'ERR_PLAN_QUOTA_RESTRICTION', 'the 26th')
      equal(success(await api.get(`${path}?perPage=1`)).meta.pagination.total, max, '`total`')
    }),
    check('22.9 Errors', 'what is no list of addresses, and an app that does not exist', async (server) => {
      const { api, path } = teamOf(server)
      failure(await api.post(path, { admins: 'all' }), 400, 'ERR_BAD_REQUEST', 'admins')
      failedEntry(data(await api.post(path, { admins: ['nobody'] })).admins.nobody, 'ERR_BAD_REQUEST', 'no address')
      failure(await api.get('/apps/conf0nobody/collaborators'), 404, 'ERR_APP_NOT_FOUND')
    }),
  ],
}
