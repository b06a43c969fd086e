import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { startServices } from '../../scripts/services.ts'
import { againstFloor, againstSelf, type Bench, type Contender, type Group, interleave, slowerBy } from '../harness.ts'
import { type Answer, type Install, installWithUsers, requestTo, send } from '../install.ts'
import { type Request, serialNumber } from '../load.ts'
import { rareName, uidAt } from '../load-users.ts'
import { type Running, startParley } from '../processes.ts'
import { httpFloorFor, type Stage, sendFloorFor } from './calls.ts'
import { postgresOf } from './postgres.ts'

const perPage = 100
const sizes = [1_000, 10_000, 100_000, 1_000_000]
const differentUsers = 500

async function stageWith(users: number, { plan, started }: Bench): Promise<Stage> {
  const install = await installWithUsers(users, plan.folder)
  const server = await started(startParley({ data: install.data, profileFolder: plan.profileFolder }))
  return { install, server }
}

/** Users from all over the list. */
function someUids({ records }: Install): string[] {
  return Array.from({ length: differentUsers }, (_, n) => uidAt(Math.floor((n * records) / differentUsers)))
}

export const oneUser: Group = {
  name: 'users/one',
  about: 'GET /users/{uid}, and GET /me with an auth token, against raw HTTP that answers the same bytes',
  async run(bench) {
    const stage = await stageWith(bench.plan.records, bench)
    const { install, server } = stage
    const byUid = someUids(install).map((uid) => requestTo(install, `/v3/users/${uid}`))
    const withToken = [await requestWithToken(stage)]
    const floor = await bench.started(httpFloorFor(stage, [...byUid, ...withToken]))
    const samples = await interleave(bench.generator, bench.plan, [
      { name: 'floor', server: floor, requests: byUid },
      { name: 'parley', server, requests: byUid },
      { name: 'floor, token', server: floor, requests: withToken },
      { name: 'parley, token', server, requests: withToken },
    ])
    const group = 'users/one'
    const atLeast = 0.55
    return [
      againstFloor(samples, { group, job: 'GET /users/{uid}', floor: 'floor', parley: 'parley', atLeast }),
      againstFloor(samples, {
        group,
        job: 'GET /me, which checks a token',
        floor: 'floor, token',
        parley: 'parley, token',
        atLeast,
      }),
    ]
  },
}

async function requestWithToken({ install, server }: Stage): Promise<Request> {
  const { text } = await send(server, requestTo(install, `/v3/users/${uidAt(0)}/auth_tokens`, { method: 'POST' }))
  const { apikey: _, ...headers } = requestTo(install, '/v3/me').headers
  return { method: 'GET', path: '/v3/me', headers: { ...headers, authtoken: JSON.parse(text).data.authToken } }
}

/** About what is left behind: the row of the user or token, and an entry in the log. */
const rowCharacters = 600

export const userWrites: Group = {
  name: 'users/write',
  about:
    'POST /users and POST /users/{uid}/auth_tokens against raw HTTP with one durable insert, commits shared in both',
  async run(bench) {
    const stage = await stageWith(10_000, bench)
    const { install, server } = stage
    const jobs: Record<string, Request[]> = {
      'POST /users': [
        requestTo(install, '/v3/users', {
          method: 'POST',
          body: { uid: `new-${serialNumber}`, name: 'Nora Lindqvist', metadata: { plan: 'team' } },
        }),
      ],
      'POST /users/{uid}/auth_tokens': someUids(install).map((uid) =>
        requestTo(install, `/v3/users/${uid}/auth_tokens`, { method: 'POST', body: { force: true } }),
      ),
    }
    const contenders: Contender[] = []
    for (const [job, requests] of Object.entries(jobs)) {
      const floor = await bench.started(sendFloorFor(stage, requests[0] as Request, rowCharacters))
      contenders.push({ name: `floor ${job}`, server: floor, requests })
      contenders.push({ name: job, server, requests })
    }
    const samples = await interleave(bench.generator, bench.plan, contenders)
    return Object.keys(jobs).map((job) =>
      againstFloor(samples, { group: 'users/write', job, floor: `floor ${job}`, parley: job, atLeast: 0.5 }),
    )
  },
}

interface Page {
  job: string
  request: Request
  /** The same list as plain SQL, which uses nothing that Parley keeps for lists and search. */
  condition: string
  offset: number
}

function pagesOf(install: Install): { first: Page; others: Page[] } {
  const page = (job: string, search: string, condition: string, offset = 0): Page => ({
    job,
    request: requestTo(install, `/v3/users${search}`),
    condition,
    offset,
  })
  const deepest = Math.floor((install.records - 1) / perPage)
  const tagged = `tags LIKE '%"pilot"%'`
  const parts = (part: string) => `(lower(name) LIKE '%${part}%' OR uid LIKE '%${part}%')`
  return {
    first: page('GET /users, first page', '', '1'),
    others: [
      page('deepest page', `?page=${deepest + 1}`, '1', deepest * perPage),
      page('role=agent (rare)', '?role=agent', `role = 'agent'`),
      page(
        `searchKey=${rareName.slice(1, 5)} (1 in 10,000)`,
        `?searchKey=${rareName.slice(1, 5)}`,
        parts(rareName.slice(1, 5)),
      ),
      page('searchKey=花子 (1 in 128)', `?searchKey=${encodeURIComponent('花子')}`, parts('花子')),
      page('searchKey=nora (1 in 16)', '?searchKey=nora', parts('nora')),
      page('tags=pilot (1 in 100)', '?tags=pilot', tagged),
      page('searchKey=nora&tags=pilot', '?searchKey=nora&tags=pilot', `${parts('nora')} AND ${tagged}`),
    ],
  }
}

const pageCpuTimesMax = 1.5

export const userLists: Group = {
  name: 'users/list',
  about: 'GET /users, 100 per page: the first page against raw HTTP, every other page and search against the first',
  async run(bench) {
    const stage = await stageWith(bench.plan.records, bench)
    const { install, server } = stage
    const { first, others } = pagesOf(install)
    for (const page of [first, ...others]) verify(install, page, await send(server, page.request))
    const floor = await bench.started(httpFloorFor(stage, [first.request]))
    const samples = await interleave(bench.generator, bench.plan, [
      { name: 'floor', server: floor, requests: [first.request] },
      ...[first, ...others].map(({ job, request }): Contender => ({ name: job, server, requests: [request] })),
    ])
    const group = 'users/list'
    return [
      againstFloor(samples, { group, job: first.job, floor: 'floor', parley: first.job, atLeast: 0.2 }),
      ...others.map(({ job }) =>
        againstSelf(samples, { group, job, base: first.job, parley: job, atMost: pageCpuTimesMax }),
      ),
    ]
  },
}

/** Holds a page and its total against the rows themselves. */
function verify({ data: folder, appId }: Install, { job, condition, offset }: Page, { text }: Answer): void {
  const { data, meta } = JSON.parse(text) as { data: { uid: string }[]; meta: { pagination: { total: number } } }
  const database = new DatabaseSync(join(folder, 'parley.sqlite'), { readOnly: true })
  try {
    const where = `app_id = '${appId}' AND deactivated_at IS NULL AND ${condition}`
    const { total } = database.prepare(`SELECT count(*) AS total FROM users WHERE ${where}`).get() as { total: number }
    const rows = database
      .prepare(`SELECT uid FROM users WHERE ${where} ORDER BY created_at DESC, uid LIMIT ${perPage} OFFSET ${offset}`)
      .all() as { uid: string }[]
    if (meta.pagination.total !== total) throw new Error(`${job}: the total is ${total}, not ${meta.pagination.total}.`)
    if (data.map(({ uid }) => uid).join() !== rows.map(({ uid }) => uid).join()) {
      throw new Error(`${job}: these are not the users of that page.`)
    }
  } finally {
    database.close()
  }
}

const growthTimesMax = 1.3

export const userGrowth: Group = {
  name: 'users/growth',
  about: 'One user, the first page, the deepest page and a search in apps of 1,000 users and more',
  async run(bench) {
    const { generator, plan } = bench
    const contenders: Contender[] = []
    const jobs = ['GET /users/{uid}', 'GET /users, first page', 'deepest page', 'search']
    const measured = sizes.filter((users) => users <= plan.records)
    for (const users of measured) {
      const { install, server } = await stageWith(users, bench)
      const requests = [
        someUids(install).map((uid) => requestTo(install, `/v3/users/${uid}`)),
        [requestTo(install, '/v3/users')],
        [requestTo(install, `/v3/users?page=${users / perPage}`)],
        [requestTo(install, `/v3/users?searchKey=${uidAt(users / 2).slice(2)}`)],
      ]
      jobs.forEach(
        (job, n) => void contenders.push({ name: `${job} of ${users}`, server, requests: requests[n] ?? [] }),
      )
    }
    const samples = await interleave(generator, plan, contenders)
    const [fewest, ...larger] = measured
    return jobs.flatMap((job) =>
      larger.map((users) =>
        againstSelf(samples, {
          group: 'users/growth',
          job: `${job}, ${users} against ${fewest}`,
          base: `${job} of ${fewest}`,
          parley: `${job} of ${users}`,
          atMost: growthTimesMax,
        }),
      ),
    )
  },
}

/** The scaled database, where the time is spent outside of Parley's process: requests a second are compared. */
export const usersOnPostgres: Group = {
  name: 'users/postgres',
  about: 'GET /users on PostgreSQL: deep pages and searches of a large app against the first page of a small one',
  async run({ generator, plan, started }) {
    const services = await startServices()
    try {
      const url = postgresOf(services)
      const stage = async (users: number): Promise<Stage> => {
        const install = await installWithUsers(users, plan.folder, url)
        const server: Running = await started(startParley({ data: install.data, environment: install.environment }))
        return { install, server }
      }
      const few = await stage(sizes[0] as number)
      const many = await stage(plan.records)
      const { first, others } = pagesOf(many.install)
      const base = `first page of ${few.install.records}`
      const samples = await interleave(generator, plan, [
        { name: base, server: few.server, requests: [requestTo(few.install, '/v3/users')] },
        ...[first, ...others].map(({ job, request }) => ({ name: job, server: many.server, requests: [request] })),
      ])
      return [first, ...others].map(({ job }) =>
        slowerBy(samples, {
          group: 'users/postgres',
          job: `${job}, of ${plan.records}`,
          base,
          parley: job,
          atMost: pageCpuTimesMax,
        }),
      )
    } finally {
      await services.stop()
    }
  },
}
