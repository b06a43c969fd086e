import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { sqliteFile } from '../../server/src/storage/sqlite.ts'
import { type Bench, type Contender, figureOf, type Group, judged, measure, type Row, type Sample } from '../harness.ts'
import { copyOf, type Install, installWithCrowd, requestTo, send } from '../install.ts'
import type { Request } from '../load.ts'
import { bystanders, crowd, friends, friendsShare, talker, talkerShare } from '../load-crowd.ts'
import { type Running, startParley } from '../processes.ts'

const group = 'messages/deletion'
const roundsDuring = 10
const slowerAtMost = 1.5
// No batch may hold the only writer for longer.
const slowestMilliseconds = 50
// A million messages within an hour.
const messagesPerSecond = 300
const begunSeconds = 10
const pollMilliseconds = 50

/** What is deleted, and how many messages go with it. */
interface Deletion {
  what: string
  request: Request
  messages: number
}

function deletionsIn(install: Install): Deletion[] {
  const { records } = install
  const [one, other] = friends
  return [
    {
      what: 'a group',
      request: requestTo(install, `/v3/groups/${crowd}`, { method: 'DELETE' }),
      messages: records,
    },
    {
      what: 'a user',
      request: requestTo(install, `/v3/users/${talker}`, { method: 'DELETE', body: { permanent: true } }),
      messages: records * talkerShare,
    },
    {
      what: 'a conversation',
      request: requestTo(install, `/v3/users/${other}/conversation`, {
        method: 'DELETE',
        body: { deleteMessagesPermanently: true },
        headers: { onbehalfof: one },
      }),
      messages: records * friendsShare,
    },
  ]
}

/** What bystanders do meanwhile: as much as the server answers, and a little at a fixed rate. */
function bystandersOf(install: Install, server: Running): Contender[] {
  const [one, other] = bystanders
  const headers = { onbehalfof: one }
  const read = requestTo(install, `/v3/users/${other}/messages?affix=prepend&limit=10`, { headers })
  const body = { receiver: other, receiverType: 'user', data: { text: 'The oak for the bench comes tomorrow.' } }
  const sending = requestTo(install, '/v3/messages', { method: 'POST', body, headers })
  return [
    { name: 'read', server, requests: [read] },
    { name: 'send', server, requests: [sending] },
    { name: 'read at 100/s', server, requests: [read], rate: 100 },
    { name: 'send at 100/s', server, requests: [sending], rate: 100 },
  ]
}

type Round = Sample[]

async function roundOf({ generator, plan }: Bench, contenders: Contender[]): Promise<Round> {
  const round: Round = []
  for (const contender of contenders) round.push(await measure(generator, contender, plan.seconds))
  return round
}

/** Whether anything that was deleted is still being removed. */
function watchOver({ data, appId }: Install) {
  const database = new DatabaseSync(join(data, sqliteFile), { readOnly: true })
  const soon = database.prepare('SELECT count(*) AS n FROM jobs WHERE app_id = ? AND run_at <= ?')
  return {
    isBusy: () => (soon.get(appId, Math.floor(Date.now() / 1000) + 1) as { n: number }).n > 0,
    close: () => database.close(),
  }
}

type Watch = ReturnType<typeof watchOver>

/** Deletes, and measures round after round until the rest is better left in peace; answers the rounds and the time. */
async function deleteUnderLoad(bench: Bench, server: Running, watch: Watch, deletion: Deletion, busy: Contender[]) {
  const startedAt = performance.now()
  const { status, text } = await send(server, deletion.request)
  if (status !== 200) throw new Error(`Deleting ${deletion.what} was refused: ${text}`)
  // A follower begins the removal a moment later.
  for (const deadline = startedAt + begunSeconds * 1000; !watch.isBusy() && performance.now() < deadline; )
    await pause(1)
  const rounds: Round[] = []
  while (rounds.length < roundsDuring && watch.isBusy()) {
    const round = await roundOf(bench, busy)
    if (watch.isBusy()) rounds.push(round)
  }
  while (watch.isBusy()) await pause(pollMilliseconds)
  const seconds = (performance.now() - startedAt) / 1000
  return { rounds, seconds }
}

function rowsOf(what: string, contenders: Contender[], before: Round[], during: Round[]): Row[] {
  return contenders.map(({ name, rate }, index) => {
    const value = (round: Round) => (rate === undefined ? round[index]?.requestsPerSecond : round[index]?.p99) ?? 0
    const unit = rate === undefined ? '/s' : 'ms'
    const [floor, parley] = [figureOf(before.map(value), unit), figureOf(during.map(value), unit)]
    return judged({
      group,
      job: `${name}${rate === undefined ? '' : ', p99'}, while ${what} is deleted`,
      floor,
      parley,
      reached: rate === undefined ? floor.median / parley.median : parley.median,
      goal: { atMost: rate === undefined ? slowerAtMost : slowestMilliseconds },
    })
  })
}

export const messageDeletion: Group = {
  name: group,
  about: 'Reading and sending while a group of 100,000, a user and a conversation are deleted with their messages',
  async run(bench) {
    const { plan, started } = bench
    const install = copyOf(await installWithCrowd(plan.records, plan.folder))
    const environment = { PARLEY_LIMIT_MESSAGES: '1000000000' }
    const server = await started(startParley({ data: install.data, environment, profileFolder: plan.profileFolder }))
    const contenders = bystandersOf(install, server)
    const watch = watchOver(install)
    await roundOf(bench, contenders)
    const rows: Row[] = []
    for (const deletion of deletionsIn(install)) {
      const before: Round[] = []
      for (let round = 0; round < plan.rounds; round += 1) before.push(await roundOf(bench, contenders))
      const { rounds, seconds } = await deleteUnderLoad(bench, server, watch, deletion, contenders)
      if (rounds.length === 0) throw new Error(`Deleting ${deletion.what} was over before anything was measured.`)
      const reached = deletion.messages / seconds
      rows.push(
        ...rowsOf(deletion.what, contenders, before, rounds),
        judged({
          group,
          job: `deleting ${deletion.what} with ${deletion.messages} messages, per second`,
          parley: figureOf([seconds], 's'),
          reached,
          goal: { atLeast: messagesPerSecond },
        }),
      )
    }
    watch.close()
    return rows
  },
}
