import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { attachDevice, connect, openSocket, untilAllHeard } from '../support/device.ts'
import { house } from '../support/house.ts'
import { times } from '../support/quick.ts'
import { appWith, say } from '../support/talk.ts'
import { until } from '../support/until.ts'

/** Sockets that never say who they are: nobody else notices them, and nothing is left of them. */

const strangersMax = times(200, 5_000)
const atOnce = 50
const rounds = times(1, 3)
const megabyte = 1024 * 1024

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

function heapBytes(): number {
  collectGarbage()
  collectGarbage()
  return process.memoryUsage().heapUsed
}

describe('sockets that never log in', () => {
  it(`cost nobody anything, and leave nothing behind, ${strangersMax} at a time`, async () => {
    const environment = { PARLEY_CONNECTIONS_PER_ADDRESS_MAX: '10000' }
    const h = await house({
      ...{ database: 'sqlite' as const, environment },
      livePatience: { authMilliseconds: 2_000, checkMilliseconds: 50 },
    })
    const app = await appWith(h, 'ada', 'lin')
    const ada = await connect(h, app, 'ada')
    const figure = async (name: string) => {
      const { text } = await h.client.send('localhost', '/metrics')
      return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
    }

    /** They come, and stay until they are let go. */
    async function crowd(): Promise<void> {
      const codes: Promise<number>[] = []
      for (let come = 0; come < strangersMax; come += atOnce) {
        const some = Array.from({ length: atOnce }, () => attachDevice(openSocket(h, app.host)))
        await Promise.all(some.map(({ opened }) => opened))
        codes.push(...some.map(async ({ closed }) => (await closed).code))
        await say(app, 'lin', 'ada', `${come}`)
      }
      await untilAllHeard(app, [ada])
      // Beyond 2,000 the oldest make room at once, without a word.
      for (const code of await Promise.all(codes)) assert.ok([4408, 1006].includes(code), String(code))
      await until('only ada is there', async () => (await figure('parley_sockets')) === 1)
    }

    await crowd()
    const before = heapBytes()
    for (let round = 0; round < rounds; round += 1) await crowd()
    ada.frames.length = 0
    const grown = (heapBytes() - before) / megabyte
    assert.ok(grown < 8, `${grown} MB more`)
    assert.equal(await figure('parley_connections'), 2)
    await ada.close()
    await h.close()
  })
})
