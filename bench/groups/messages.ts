import { startServices } from '../../scripts/services.ts'
import { againstFloor, againstSelf, type Bench, type Contender, type Group, interleave, slowerBy } from '../harness.ts'
import { type Install, installWithMessages, requestTo, send } from '../install.ts'
import type { Request } from '../load.ts'
import { busyUser, groupOf, groupSizes, otherScripts, partnerAt, rareWord } from '../load-messages.ts'
import { startParley } from '../processes.ts'
import { httpFloorFor, type Stage, sendFloorFor } from './calls.ts'
import { postgresOf } from './postgres.ts'

const differentPartners = 200
const rowCharacters = 1_200
const growthSizes = [10_000, 100_000, 1_000_000]

async function stageWith(messages: number, { plan, started }: Bench, postgresUrl?: string): Promise<Stage> {
  const install = await installWithMessages(messages, plan.folder, postgresUrl)
  const environment = { ...install.environment, PARLEY_LIMIT_MESSAGES: '1000000000' }
  const server = await started(startParley({ data: install.data, environment, profileFolder: plan.profileFolder }))
  return { install, server }
}

const asBusy = { onbehalfof: busyUser }

function sending(install: Install, receiver: string, receiverType: 'user' | 'group'): Request {
  const body = { receiver, receiverType, data: { text: 'The oak for the bench comes tomorrow, please make room.' } }
  return requestTo(install, '/v3/messages', { method: 'POST', body, headers: asBusy })
}

export const messageWrites: Group = {
  name: 'messages/write',
  about: 'Sending to users and groups, reacting and reading, against raw HTTP with one durable insert',
  async run(bench) {
    const stage = await stageWith(10_000, bench)
    const { install, server } = stage
    const partners = Array.from({ length: differentPartners }, (_, n) => partnerAt(n))
    const one = await send(server, sending(install, partners[0] as string, 'user'))
    const { id } = JSON.parse(one.text).data
    const jobs: Record<string, { requests: Request[]; atLeast: number }> = {
      'send one-to-one': { requests: partners.map((uid) => sending(install, uid, 'user')), atLeast: 0.35 },
      ...Object.fromEntries(
        groupSizes.map((size) => [
          `send to a group of ${size}`,
          { requests: [sending(install, groupOf(size), 'group')], atLeast: 0.3 },
        ]),
      ),
      'react, and take it back': {
        requests: ['POST', 'DELETE'].map((method) =>
          requestTo(install, `/v3/messages/${id}/reactions/%F0%9F%91%8D`, { method, headers: asBusy }),
        ),
        atLeast: 0.3,
      },
      'mark as read': {
        requests: partners.map((uid) =>
          requestTo(install, `/v3/users/${uid}/conversation/read`, { method: 'POST', headers: asBusy }),
        ),
        atLeast: 0.3,
      },
    }
    const contenders: Contender[] = []
    for (const [job, { requests }] of Object.entries(jobs)) {
      const floor = await bench.started(sendFloorFor(stage, requests[0] as Request, rowCharacters))
      contenders.push({ name: `floor ${job}`, server: floor, requests }, { name: job, server, requests })
    }
    const samples = await interleave(bench.generator, bench.plan, contenders)
    return Object.entries(jobs).map(([job, { atLeast }]) =>
      againstFloor(samples, { group: 'messages/write', job, floor: `floor ${job}`, parley: job, atLeast }),
    )
  },
}

const paths = {
  '50 newest of a group': `/v3/groups/${groupOf(1_000)}/messages?affix=prepend&limit=50`,
  '50 newest of a user': '/v3/messages?affix=prepend&limit=50',
  'conversations, with unread counts': '/v3/conversations?perPage=50',
  'search, rare word': `/v3/messages?searchKey=${rareWord}&affix=prepend&limit=50`,
  'search, common word': '/v3/messages?searchKey=walnut&affix=prepend&limit=50',
  ...Object.fromEntries(
    otherScripts.map(({ word }) => [
      `search, ${word} (1 in 100)`,
      `/v3/messages?searchKey=${encodeURIComponent(word)}&affix=prepend&limit=50`,
    ]),
  ),
}

/** A user may have few searches under way at once. */
const connectionsFor = (job: string) => (job.startsWith('search') ? 8 : 32)

const listing = (install: Install, path: string) => requestTo(install, path, { headers: asBusy })

export const messageLists: Group = {
  name: 'messages/list',
  about: 'Newest messages, the list of 2,000 conversations and searches, against raw HTTP that answers the same bytes',
  async run(bench) {
    const stage = await stageWith(bench.plan.records, bench)
    const { install, server } = stage
    const all = Object.values(paths).map((path) => listing(install, path))
    const floor = await bench.started(httpFloorFor(stage, all))
    const contenders = Object.keys(paths).flatMap((job, index): Contender[] => {
      const requests = [all[index] as Request]
      return [
        { name: `floor ${job}`, server: floor, requests },
        { name: job, server, requests, connections: connectionsFor(job) },
      ]
    })
    const samples = await interleave(bench.generator, bench.plan, contenders)
    return Object.keys(paths).map((job) =>
      againstFloor(samples, { group: 'messages/list', job, floor: `floor ${job}`, parley: job, atLeast: 0.2 }),
    )
  },
}

export const messageGrowth: Group = {
  name: 'messages/growth',
  about:
    'Newest messages, the list of 2,000 conversations and searches in several scripts, in apps of 10,000 messages and more',
  async run(bench) {
    const measured = growthSizes.filter((size) => size <= bench.plan.records)
    const contenders: Contender[] = []
    for (const size of measured) {
      const { install, server } = await stageWith(size, bench)
      for (const [job, path] of Object.entries(paths)) {
        const connections = connectionsFor(job)
        contenders.push({ name: `${job} ${size}`, server, requests: [listing(install, path)], connections })
      }
    }
    const samples = await interleave(bench.generator, bench.plan, contenders)
    const [fewest, ...larger] = measured
    return Object.keys(paths).flatMap((job) =>
      larger.map((size) =>
        againstSelf(samples, {
          group: 'messages/growth',
          job: `${job}, ${size} against ${fewest}`,
          base: `${job} ${fewest}`,
          parley: `${job} ${size}`,
          atMost: 1.3,
        }),
      ),
    )
  },
}

/** The scaled database, where the time is spent outside of Parley's process: requests a second are compared. */
export const messagesOnPostgres: Group = {
  name: 'messages/postgres',
  about: 'The same lists and searches on PostgreSQL, of a large app against those of a small one',
  async run(bench) {
    const services = await startServices()
    try {
      const url = postgresOf(services)
      const [few, many] = [growthSizes[0] as number, bench.plan.records]
      const stages = { few: await stageWith(few, bench, url), many: await stageWith(many, bench, url) }
      const contenders = Object.entries(paths).flatMap(([job, path]): Contender[] =>
        Object.entries(stages).map(([size, { install, server }]) => ({
          name: `${job} ${size}`,
          server,
          requests: [listing(install, path)],
          connections: connectionsFor(job),
        })),
      )
      const samples = await interleave(bench.generator, bench.plan, contenders)
      return Object.keys(paths).map((job) =>
        slowerBy(samples, {
          group: 'messages/postgres',
          job: `${job}, ${many} against ${few}`,
          base: `${job} few`,
          parley: `${job} many`,
          atMost: 1.3,
        }),
      )
    } finally {
      await services.stop()
    }
  },
}
