import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { arch, cpus, tmpdir, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { latency, oneCall } from './groups/calls.ts'
import { messageDeletion } from './groups/deletion.ts'
import { fileUpload } from './groups/files.ts'
import { holds } from './groups/holds.ts'
import { install } from './groups/install.ts'
import { refused, write } from './groups/keys.ts'
import { growth, lists } from './groups/lists.ts'
import { messageGrowth, messageLists, messagesOnPostgres, messageWrites } from './groups/messages.ts'
import { page } from './groups/page.ts'
import { onPostgres } from './groups/postgres.ts'
import { realtime } from './groups/realtime.ts'
import { oneUser, userGrowth, userLists, usersOnPostgres, userWrites } from './groups/users.ts'
import type { Figure, Group, Plan, Row } from './harness.ts'
import { startGenerator } from './load.ts'
import type { Running } from './processes.ts'

/** Measures what exists and holds it against the goals; docs/performance.md says how to read it. */

const groups: Group[] = [
  ...[oneCall, lists, growth, latency],
  ...[refused, write],
  ...[oneUser, userWrites, userLists, userGrowth],
  ...[messageWrites, messageLists, messageGrowth, messageDeletion, fileUpload, holds],
  ...[...realtime, page],
  ...[install, onPostgres, usersOnPostgres, messagesOnPostgres],
]

const usage = `npm run bench -- [NAME...] [--quick] [--data FOLDER] [--profile FOLDER] [--note TEXT...]

  NAME       only groups whose name begins so:
${groups.map(({ name, about }) => `             ${name.padEnd(17)} ${about}`).join('\n')}
  --quick    few short rounds on 100,000 records; for development
  --data     keep the loaded installs here and use them again
  --profile  leave a CPU profile of each Parley process here; bench/profile.ts sums one up
  --note     a remark for the results file
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean' },
    data: { type: 'string' },
    profile: { type: 'string' },
    note: { type: 'string', multiple: true },
    help: { type: 'boolean', short: 'h' },
  },
})

async function runGroup(group: Group, plan: Plan): Promise<Row[]> {
  const generator = startGenerator()
  const running: Running[] = []
  try {
    return await group.run({
      plan,
      generator,
      async started(server) {
        running.push(await server)
        return server
      },
    })
  } finally {
    generator.stop()
    await Promise.all(running.map((server) => server.stop()))
  }
}

function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

function shown(figure: Figure | undefined): string {
  if (!figure) return '–'
  const { median, low, high, unit } = figure
  return `${digits(median)} ${unit} (${digits(low)}–${digits(high)})`
}

function tableOf(rows: Row[]): string {
  const lines = rows.map(({ group, job, floor, parley, rates, reached, goal, met }) => [
    group,
    job,
    shown(floor),
    shown(parley),
    rates ? `${digits(rates.floor.median)} / ${digits(rates.parley.median)}` : '–',
    digits(reached),
    'atLeast' in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`,
    met ? 'met' : 'MISSED',
  ])
  const titles = ['group', 'job', 'floor or base', 'Parley', 'requests/s', 'reached', 'goal', '']
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...lines.map((line) => line[column]?.length ?? 0)),
  )
  return [titles, widths.map((width) => '-'.repeat(width)), ...lines]
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function writeResults(rows: Row[], plan: Plan): string {
  const date = new Date().toISOString()
  const results = {
    date,
    machine: {
      cores: cpus().length,
      model: cpus()[0]?.model,
      arch: arch(),
      memoryGigabytes: Math.round(totalmem() / 2 ** 30),
      node: process.version,
    },
    plan: { rounds: plan.rounds, seconds: plan.seconds, records: plan.records },
    notes: values.note ?? [],
    rows,
  }
  const folder = join(import.meta.dirname, 'results')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${date.slice(0, 10)}.json`)
  writeFileSync(file, `${JSON.stringify({ ...results, rows: merged(file, rows) }, null, 2)}\n`)
  return file
}

/** A run of some groups replaces only their rows of the day. */
function merged(file: string, rows: Row[]): Row[] {
  const measured = new Set(rows.map(({ group }) => group))
  const earlier: Row[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).rows : []
  const all = [...earlier.filter(({ group }) => !measured.has(group)), ...rows]
  const place = ({ group }: Row) => groups.findIndex(({ name }) => name === group)
  return all.sort((a, b) => place(a) - place(b))
}

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(usage)
  const chosen = groups.filter(
    ({ name }) => positionals.length === 0 || positionals.some((word) => name.startsWith(word)),
  )
  if (chosen.length === 0) throw new Error(`There is no such group.\n\n${usage}`)
  const folder = values.data ? resolve(values.data) : mkdtempSync(join(tmpdir(), 'parley-bench-'))
  mkdirSync(folder, { recursive: true })
  const plan: Plan = {
    ...(values.quick ? { rounds: 3, seconds: 1, records: 100_000 } : { rounds: 5, seconds: 2, records: 1_000_000 }),
    folder,
    profileFolder: values.profile && resolve(values.profile),
  }
  const rows: Row[] = []
  try {
    for (const group of chosen) {
      const measured = await runGroup(group, plan)
      process.stdout.write(`${tableOf(measured)}\n\n`)
      rows.push(...measured)
    }
  } finally {
    if (!values.data) rmSync(folder, { recursive: true })
  }
  if (values.quick || values.profile) return
  console.log(
    `${rows.filter(({ met }) => met).length} of ${rows.length} goals met; written to ${writeResults(rows, plan)}`,
  )
}

await main()
