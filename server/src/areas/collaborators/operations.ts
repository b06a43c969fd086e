import { pageOf, paginate } from '../../common/page.ts'
import { one } from '../../common/reply.ts'
import { managementOperation } from '../../kit/operation.ts'
import { appArchived, appNotFound } from '../apps/errors.ts'
import { accountOf, accountsAt, requireAccount, requireActiveApp } from '../apps/index.ts'
import { changeTeam } from './acts.ts'
import { firstLists } from './rules.ts'
import { Collaborator, CollaboratorListQuery, TeamChange, TeamOutcomes } from './schemas.ts'
import { collaboratorsOf, toCollaborator } from './store.ts'

const changeCollaborators = managementOperation({
  id: 'changeCollaborators',
  route: 'POST /apps/{appId}/collaborators',
  summary: 'Add and remove collaborators',
  description:
    'Adds each address with the role of its list, or moves it there, and removes those in `collaboratorsToRemove`, who make ' +
    'room first. An app has at most 25 collaborators; its owner is not one of them. The answer tells for each address, in ' +
    'lower case, what became of it: `ERR_ALREADY_AN_OWNER`, `ERR_SELF_ACTION_DENIED`, `ERR_NOT_A_COLLABORATOR`, ' +
    '`ERR_PLAN_QUOTA_RESTRICTION`, or `ERR_BAD_REQUEST` for what is no address and in every list but the first that names ' +
    'it. An address without an account gets a new `inviteUrl` whenever it is added; earlier ones stop working.',
  body: TeamChange,
  reply: one(TeamOutcomes),
  errors: [appNotFound, appArchived],
  find: ({ platform, params, caller }) => requireActiveApp(platform, accountOf(caller), params.appId),
  async run({ platform, inApp, found, body, caller }) {
    const owner = await requireAccount(platform, found.account_id)
    const asking = await requireAccount(platform, accountOf(caller))
    const known = new Set((await accountsAt(platform, [...firstLists(body).keys()])).map(({ email }) => email))
    const accounts = { owner: owner.email, caller: asking.email }
    return { data: await changeTeam(inApp(found.id), body, accounts, (address) => known.has(address)) }
  },
})

const listCollaborators = managementOperation({
  id: 'listCollaborators',
  route: 'GET /apps/{appId}/collaborators',
  summary: 'List collaborators',
  description: 'Newest first, those who are invited included; the owner is not among them.',
  query: CollaboratorListQuery,
  reply: pageOf(Collaborator),
  errors: [appNotFound, appArchived],
  find: ({ platform, params, caller }) => requireActiveApp(platform, accountOf(caller), params.appId),
  async run({ platform, inApp, found, query }) {
    const { data: rows, meta } = await paginate(collaboratorsOf(inApp(found.id).db), {}, query, (row) => row)
    const accounts = await accountsAt(
      platform,
      rows.map(({ email }) => email),
    )
    const names = new Map(accounts.map(({ email, name }) => [email, name]))
    return { data: rows.map((row) => toCollaborator(row, names.get(row.email))), meta }
  },
})

export const operations = [changeCollaborators, listCollaborators]
