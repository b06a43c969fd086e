import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { pino } from 'pino'
import { doctor } from '../server/src/cli/doctor.ts'
import { MediaUnavailable } from '../server/src/common/media.ts'
import { openHouse } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import { type FreshDatabase, preparedDatabase } from './support/databases.ts'
import { house } from './support/house.ts'
import { videoRoom, withoutJanus } from './support/media.ts'

const log = pino({ level: 'silent' })
const noProgram = { PARLEY_MEDIA_JANUS: '/nowhere/janus' }

describe('media in an install', () => {
  let fresh: FreshDatabase
  before(async () => {
    fresh = await preparedDatabase('sqlite')
  })
  after(() => fresh.drop())

  const configOf = (environment: Record<string, string>) => readConfig({ ...fresh.environment, ...environment })

  /** What the doctor says of media, and whether all is well. */
  async function examine(environment: Record<string, string>) {
    const config = configOf(environment)
    const outcome = await doctor.run({ config, words: [], flags: {}, json: true })
    assert.ok(outcome)
    const { checks } = outcome.data as { checks: { check: string; ok: boolean; findings: string[] }[] }
    return { isWell: outcome.ok, media: checks.find(({ check }) => check.startsWith('calls have media')) }
  }

  it('is not needed: without it the server starts, and says why when media is asked for', async () => {
    for (const [environment, why] of [
      [noProgram, /PARLEY_MEDIA_JANUS/],
      [{ PARLEY_MEDIA: 'off' }, /switched off/],
    ] as const) {
      const opened = await openHouse(configOf(environment), log, { isNode: true })
      const { media } = opened.tools
      await assert.rejects(
        media.openRoom(videoRoom('a')),
        (error) => error instanceof MediaUnavailable && why.test(error.message),
      )
      assert.match((await media.trouble()) ?? '', why)
      await opened.close()
    }
  })

  it('is found missing by the doctor, which takes it for a fault only where it was asked for', async () => {
    const without = await examine(noProgram)
    assert.equal(without.isWell, true)
    assert.match(without.media?.findings[0] ?? '', /PARLEY_MEDIA_JANUS/)
    const asked = await examine({ ...noProgram, PARLEY_MEDIA: 'on' })
    assert.deepEqual([asked.isWell, asked.media?.ok], [false, false])
  })

  it('is refused at the start where it was asked for and cannot be', async () => {
    const config = configOf({ ...noProgram, PARLEY_MEDIA: 'on' })
    await assert.rejects(
      openHouse(config, log, { isNode: true }),
      /^ConfigError: PARLEY_MEDIA is on, and there is no media\. .*\.$/,
    )
  })

  it('is at hand as one of the tools, shown by the metrics, and ended with the server', {
    skip: withoutJanus,
  }, async () => {
    assert.equal((await examine({ PARLEY_MEDIA: 'on' })).isWell, true)
    const h = await house({ database: 'sqlite', environment: { PARLEY_MEDIA_PORTS: '27000-27999' } })
    const { media } = h.service.house.tools
    await media.openRoom(videoRoom('a'))
    await media.join({ room: 'a', device: 'ada' }, { mayPublish: true }, () => {})
    const { text } = await h.client.send('localhost', '/metrics')
    assert.match(text, /^parley_media_rooms 1$/m)
    assert.match(text, /^parley_media_devices 1$/m)
    assert.match(text, /^parley_media_restarts_total 0$/m)
    await h.close()
    assert.ok(media.nodes().every(({ isReady }) => !isReady))
  })
})
