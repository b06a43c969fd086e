import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { figureOf, type Group, judged, type Row } from '../harness.ts'
import { type Install, installWithWorst, requestTo, send } from '../install.ts'
import { busyUser, groupOf, partnerAt } from '../load-messages.ts'
import { commonTag, crowd, host, stranger } from '../load-worst.ts'
import type { Running } from '../processes.ts'
import type { Held, Order, Report } from '../watched-server.ts'

/** A goal for all of them: nobody else is kept waiting for longer. */
const millisecondsMax = 50

const sixteenShortWords = 'a i o u e n t r s l d m in on at it'

interface Job {
  path: string
  as?: string
  method?: string
  body?: object
}

const get = (as: string | undefined, path: string): Job => ({ path, ...(as && { as }) })

/** The most expensive that each list and search can be asked, for whoever pays most for it. */
const jobs: Record<string, Job> = {
  'messages, newest 100 of 2,000 conversations': get(busyUser, '/messages?affix=prepend&limit=100'),
  'messages, newest 100 of 20,000 conversations': get(host, '/messages?affix=prepend&limit=100'),
  'messages, 1,000 of a conversation': get(busyUser, `/groups/${groupOf(1_000)}/messages?limit=1000`),
  'messages, 16 short words': get(busyUser, `/messages?searchKey=${encodeURIComponent(sixteenShortWords)}`),
  'messages, 16 short words, who sees none': get(
    stranger,
    `/messages?searchKey=${encodeURIComponent(sixteenShortWords)}`,
  ),
  'messages, a letter': get(busyUser, '/messages?searchKey=a'),
  'messages, a common word': get(busyUser, '/messages?searchKey=walnut&limit=1000'),
  'messages, a word nobody said': get(busyUser, '/messages?searchKey=fox'),
  'messages, a kind that nobody sent': get(busyUser, '/messages?category=custom'),
  'messages, 100 tags': get(
    busyUser,
    `/messages?tags=${Array.from({ length: 99 }, (_, n) => `t${n}`).join()},${commonTag}`,
  ),
  'messages, unread': get(busyUser, '/messages?unread=true&limit=100'),
  'messages, changed in the future': get(busyUser, '/messages?updatedAt=4000000000'),
  'messages, unread counts': get(busyUser, '/messages?unread=true&count=true'),
  'messages, unread counts of a word': get(busyUser, '/messages?unread=true&count=true&searchKey=fox'),
  'messages, unread counts of a common word': get(busyUser, '/messages?unread=true&count=true&searchKey=walnut'),
  'messages, unread counts of a kind': get(busyUser, '/messages?unread=true&count=true&hasLinks=true'),
  'messages, all of a user in pages': get(undefined, `/users/${busyUser}/messages`),
  'messages of the app, a kind nobody sent': get(undefined, '/messages?category=custom'),
  threads: get(busyUser, '/threads?limit=1000&withUnreadReplyCount=true&withMentionCount=true'),
  'conversations, 2,000': get(busyUser, '/conversations?perPage=1000'),
  'conversations, 20,000': get(host, '/conversations?perPage=1000'),
  'conversations, unread': get(busyUser, '/conversations?unread=true'),
  'conversations, a letter': get(host, '/conversations?searchKey=a'),
  'conversations of the app': get(undefined, '/conversations?unread=true'),
  'conversation far behind': get(busyUser, `/groups/${groupOf(1_000)}/conversation`),
  'conversation that all joined later': get(busyUser, `/groups/${crowd}/conversation`),
  'users, last page': get(busyUser, '/users?page=1000'),
  'users, a letter': get(busyUser, '/users?searchKey=a&page=500'),
  'users, a tag': get(busyUser, '/users?tags=everyone&page=500'),
  'users, connected': get(busyUser, '/users?status=available&page=300'),
  'groups, last page': get(busyUser, '/groups?page=1000'),
  'groups, a letter': get(busyUser, '/groups?searchKey=c&sortBy=name&page=500'),
  'groups, by members': get(busyUser, '/groups?membersCount[lt]=1&page=500'),
  'group of 100,000': get(busyUser, `/groups/${crowd}`),
  'members of 100,000, a letter': get(busyUser, `/groups/${crowd}/members?searchKey=a&page=300`),
  'members of 100,000, connected': get(busyUser, `/groups/${crowd}/members?status=online&page=300`),
  'members of 100,000, not connected': get(busyUser, `/groups/${crowd}/members?status=offline&page=300`),
  'calls, by time': get(undefined, '/calls?startedAt=1&participantsCount=49'),
  'calls, last page': get(undefined, '/calls?page=10000'),
  'mark all as unread': {
    ...get(busyUser, `/groups/${groupOf(1_000)}/conversation/read`),
    method: 'DELETE',
    body: { messageId: 0 },
  },
  'mark all as read': { ...get(busyUser, `/groups/${groupOf(1_000)}/conversation/read`), method: 'POST', body: {} },
  'send to 100 users': {
    ...get(busyUser, '/messages'),
    method: 'POST',
    body: {
      multipleReceivers: { uids: Array.from({ length: 100 }, (_, n) => partnerAt(n)) },
      data: { text: 'The oak for the bench comes tomorrow' },
    },
  },
}

export const holds: Group = {
  name: 'holds',
  about: 'How long the most expensive requests of an end user keep the event loop, at a million messages',
  async run(bench) {
    const install = await installWithWorst(bench.plan.records, bench.plan.folder)
    const watched = await bench.started(startWatched(install))
    const rows: Row[] = []
    for (const [job, asked] of Object.entries(jobs)) {
      const values: number[] = []
      for (let round = 0; round < bench.plan.rounds; round += 1) values.push(await heldBy(watched, install, asked))
      const parley = figureOf(values, 'ms')
      rows.push(judged({ group: 'holds', job, parley, reached: parley.high, goal: { atMost: millisecondsMax } }))
    }
    return rows
  },
}

interface Watched extends Running {
  child: ChildProcess
}

async function startWatched({ data, environment }: Install): Promise<Watched> {
  const child = fork(fileURLToPath(new URL('../watched-server.ts', import.meta.url)), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  const settings = {
    ...environment,
    PARLEY_DATA: data,
    PARLEY_PORT: '0',
    PARLEY_TRUST_PROXY: '127.0.0.1',
    PARLEY_LIMIT_MESSAGES: '1000000000',
    PARLEY_LIMIT_UNREAD: '1000000000',
  }
  const { port } = (await told(child, { start: settings })) as { port: number }
  const stop = async () => {
    child.disconnect()
    await once(child, 'exit')
  }
  return { child, pid: child.pid as number, ports: { plain: port, secure: port }, stop }
}

async function told(child: ChildProcess, order: Order): Promise<Report> {
  child.send(order)
  const [report] = (await once(child, 'message')) as [Report]
  return report
}

/** Milliseconds of the longest turn of the event loop while a request was answered; ended at its time limit or not. */
async function heldBy(watched: Watched, install: Install, { path, as, method, body }: Job): Promise<number> {
  const headers = { host: install.host.replace('.call-', '.api-'), ...(as && { onbehalfof: as }) }
  const request = requestTo(install, `/v3${path}`, { headers, ...(method && { method }), ...(body && { body }) })
  await told(watched.child, 'watch')
  const { status, text } = await send(watched, request)
  const { longest } = (await told(watched.child, 'tell')) as Held
  if (![200, 503].includes(status)) throw new Error(`${path} was answered with ${status}: ${text}`)
  return longest
}
