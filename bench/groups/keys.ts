import { againstFloor, type Group, interleave } from '../harness.ts'
import { installWith, requestTo } from '../install.ts'
import { startParley } from '../processes.ts'
import { httpFloorFor, sendFloorFor } from './calls.ts'

export const refused: Group = {
  name: 'keys/refused',
  about: 'A request with a bad key against raw HTTP that answers the same refusal',
  async run(bench) {
    const { plan, generator, started } = bench
    const install = await installWith(1_000, plan.folder)
    const server = await started(startParley({ data: install.data, profileFolder: plan.profileFolder }))
    const requests = [requestTo(install, '/v3/calls/any', { headers: { apikey: 'f'.repeat(40) } })]
    const floor = await started(httpFloorFor({ install, server }, requests))
    const samples = await interleave(generator, plan, [
      { name: 'floor', server: floor, requests, status: 401 },
      { name: 'parley', server, requests, status: 401 },
    ])
    return [
      againstFloor(samples, { group: 'keys/refused', job: 'bad key', floor: 'floor', parley: 'parley', atLeast: 0.7 }),
    ]
  },
}

/** About what a renamed key leaves behind: its row and an entry in the log. */
const rowCharacters = 400

export const write: Group = {
  name: 'keys/write',
  about: 'PUT /apikeys/{apiKey} against raw HTTP with one durable insert, commits shared in both',
  async run({ plan, generator, started }) {
    const install = await installWith(1_000, plan.folder)
    const server = await started(startParley({ data: install.data, profileFolder: plan.profileFolder }))
    const rename = requestTo(install, `/v3/apikeys/${install.otherKey}`, { method: 'PUT', body: { name: 'Renamed' } })
    const floor = await started(sendFloorFor({ install, server }, rename, rowCharacters))
    const samples = await interleave(generator, plan, [
      { name: 'floor', server: floor, requests: [rename] },
      { name: 'parley', server, requests: [rename] },
    ])
    const job = 'PUT /apikeys/{key}, durable'
    return [againstFloor(samples, { group: 'keys/write', job, floor: 'floor', parley: 'parley', atLeast: 0.5 })]
  },
}
