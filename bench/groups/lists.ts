import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { againstFloor, againstSelf, type Contender, type Group, interleave } from '../harness.ts'
import { type Install, installWith, requestTo, send } from '../install.ts'
import type { Request } from '../load.ts'
import { startParley } from '../processes.ts'
import { httpFloorFor, largeStage, type Stage } from './calls.ts'

const perPage = 100

interface Page {
  job: string
  request: Request
  /** The same list as plain SQL over the answered documents, which uses nothing that Parley keeps for lists. */
  condition: string
  offset: number
}

const field = (name: string) => `json_extract(document, '$.${name}')`

function pagesOf(install: Install): { first: Page; others: Page[] } {
  const page = (job: string, search: string, condition: string, offset = 0, headers = {}): Page => ({
    job,
    request: requestTo(install, `/v3/calls${search}`, { headers }),
    condition,
    offset,
  })
  const deepest = Math.floor((install.records - 1) / perPage)
  const nora = `session_id IN (SELECT session_id FROM call_members WHERE uid = 'nora')`
  return {
    first: page('GET /calls, first page', '', '1'),
    others: [
      page('deepest page', `?page=${deepest + 1}`, '1', deepest * perPage),
      page(
        'status=rejected&type=video',
        '?status=rejected&type=video',
        `${field('status')} = 'rejected' AND ${field('type')} = 'video'`,
      ),
      page(
        'the same, page 100',
        '?status=rejected&type=video&page=100',
        `${field('status')} = 'rejected' AND ${field('type')} = 'video'`,
        99 * perPage,
      ),
      page('participantsCount=1 (rare)', '?participantsCount=1', `${field('totalParticipants')} = 1`),
      page('hasRecording=true', '?hasRecording=true', field('hasRecording')),
      page('onBehalfOf a busy user', '', nora, 0, { onbehalfof: 'nora' }),
    ],
  }
}

const pageCpuTimesMax = 1.5

export const lists: Group = {
  name: 'calls/list',
  about: 'GET /calls, 100 per page: the first page against raw HTTP, and every other page against the first',
  async run(bench) {
    const stage = await largeStage(bench)
    const { first, others } = pagesOf(stage.install)
    for (const page of [first, ...others]) await verify(stage, page)
    const floor = await bench.started(httpFloorFor(stage, [first.request]))
    const { server } = stage
    const samples = await interleave(bench.generator, bench.plan, [
      { name: 'floor', server: floor, requests: [first.request] },
      ...[first, ...others].map(({ job, request }): Contender => ({ name: job, server, requests: [request] })),
    ])
    const group = 'calls/list'
    return [
      againstFloor(samples, { group, job: first.job, floor: 'floor', parley: first.job, atLeast: 0.2 }),
      ...others.map(({ job }) =>
        againstSelf(samples, { group, job, base: first.job, parley: job, atMost: pageCpuTimesMax }),
      ),
    ]
  },
}

/** Holds a page and its total against the documents themselves. */
async function verify({ install, server }: Stage, { job, request, condition, offset }: Page): Promise<void> {
  const { text } = await send(server, request)
  const { data, meta } = JSON.parse(text) as { data: { sessionId: string }[]; meta: { pagination: { total: number } } }
  const database = new DatabaseSync(join(install.data, 'parley.sqlite'), { readOnly: true })
  try {
    const where = `app_id = '${install.appId}' AND ${condition}`
    const { total } = database.prepare(`SELECT count(*) AS total FROM calls WHERE ${where}`).get() as { total: number }
    const rows = database
      .prepare(
        `SELECT session_id AS id FROM calls WHERE ${where} ORDER BY initiated_at DESC, session_id LIMIT ${perPage} OFFSET ${offset}`,
      )
      .all() as { id: string }[]
    if (meta.pagination.total !== total) throw new Error(`${job}: the total is ${total}, not ${meta.pagination.total}.`)
    if (data.map(({ sessionId }) => sessionId).join() !== rows.map(({ id }) => id).join()) {
      throw new Error(`${job}: these are not the calls of that page.`)
    }
  } finally {
    database.close()
  }
}

export const growth: Group = {
  name: 'calls/growth',
  about: 'The first page of a short list against that of a long one',
  async run(bench) {
    const { plan } = bench
    const few = await installWith(1_000, plan.folder)
    const small = await bench.started(startParley({ data: few.data }))
    const { install, server } = await largeStage(bench)
    const samples = await interleave(bench.generator, plan, [
      { name: 'few', server: small, requests: [requestTo(few, '/v3/calls')] },
      { name: 'many', server, requests: [requestTo(install, '/v3/calls')] },
    ])
    const job = `GET /calls, first page of ${install.records} against ${few.records} calls`
    return [againstSelf(samples, { group: 'calls/growth', job, base: 'few', parley: 'many', atMost: 1.3 })]
  },
}
