import { runAt } from '../../scripts/postgres.ts'
import { type Services, startServices } from '../../scripts/services.ts'
import type { PostgresFloor } from '../floors/postgres.ts'
import { type Contender, type Group, interleave, judged, type Row, rateOf, ratioOf } from '../harness.ts'
import { installWith, requestTo, send } from '../install.ts'
import { startFloor, startParley } from '../processes.ts'
import { requestsForCalls } from './calls.ts'

const calls = 10_000
const connections = 10

export const onPostgres: Group = {
  name: 'postgres',
  about: 'The same jobs on PostgreSQL against the same statements through the bare driver behind raw HTTP',
  async run({ plan, generator, started }) {
    const services = await startServices()
    try {
      const install = await installWith(calls, plan.folder, postgresOf(services))
      const url = String(install.environment.PARLEY_DATABASE_URL)
      const server = await started(
        startParley({ data: install.data, environment: install.environment, profileFolder: plan.profileFolder }),
      )
      const name = 'Renamed'
      const rename = requestTo(install, `/v3/apikeys/${install.otherKey}`, { method: 'PUT', body: { name } })
      const { status, headers, text } = await send(server, rename)
      const settings: PostgresFloor = {
        url,
        connections,
        appId: install.appId,
        fingerprint: await fingerprintOf(url, install.appId, name),
        name,
        answer: { status, headers, body: text },
      }
      const floor = await started(startFloor('postgres', settings))
      const jobs = {
        'GET /calls/{id}': await requestsForCalls({ install, server }),
        'GET /calls, first page': [requestTo(install, '/v3/calls')],
        'PUT /apikeys/{key}, durable': [rename],
      }
      const contenders = Object.entries(jobs).flatMap(([job, requests]): Contender[] => [
        { name: `floor ${job}`, server: floor, requests },
        { name: job, server, requests },
      ])
      const samples = await interleave(generator, plan, contenders)
      return Object.keys(jobs).map(
        (job): Row =>
          judged({
            group: 'postgres',
            job,
            floor: rateOf(samples, `floor ${job}`),
            parley: rateOf(samples, job),
            reached: ratioOf(samples, job, `floor ${job}`, ({ requestsPerSecond }) => requestsPerSecond),
            goal: { atLeast: 0.7 },
          }),
      )
    } finally {
      await services.stop()
    }
  },
}

export function postgresOf({ postgresUrl, missing }: Services): string {
  if (!postgresUrl) throw new Error(`There is no PostgreSQL to measure on: ${missing.join(', ')}.`)
  return postgresUrl
}

async function fingerprintOf(url: string, appId: string, name: string): Promise<string> {
  const [row] = await runAt<{ fingerprint: string }>(
    url,
    'SELECT fingerprint FROM api_keys WHERE app_id = $1 AND name = $2',
    [appId, name],
  )
  return String(row?.fingerprint)
}
