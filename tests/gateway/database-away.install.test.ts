import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makePostgres, type PrivatePostgres } from '../../scripts/postgres.ts'
import { databases, type FreshDatabase, freshDatabase } from '../support/databases.ts'
import { attachDevice, connect, type Device, openSocket, tokenOf, untilAllHeard } from '../support/device.ts'
import { type AppClient, assertFails, type House, house } from '../support/house.ts'
import { appWith, as, say } from '../support/talk.ts'
import { until } from '../support/until.ts'

/** Devices of a node whose database goes and comes back: who is there stays, who comes is asked to try again, nothing is lost. */

const skip = !databases.includes('postgres') && 'PostgreSQL is not there'

describe('devices whose database is away', { skip }, () => {
  let postgres: PrivatePostgres
  let fresh: FreshDatabase
  let h: House
  let app: AppClient
  before(async () => {
    postgres = await makePostgres({ isDurable: false })
    await postgres.start()
    fresh = await freshDatabase('postgres', postgres.url)
    h = await house({ database: 'sqlite', environment: fresh.environment })
    app = await appWith(h, 'ada', 'lin')
  })
  after(async () => {
    await h?.close()
    await postgres?.remove()
  })

  const textsIn = ({ frames }: Device) => frames.flatMap(({ body }) => body?.data?.text ?? [])

  async function isAskedToTryAgain(authToken: string, auth: object = {}): Promise<void> {
    const device = attachDevice(openSocket(h, app.host))
    await device.opened
    device.send({ type: 'auth', body: { authToken, ...auth } })
    assert.equal((await device.closed).code, 1013)
    assert.deepEqual(
      device.frames.map(({ body }) => body.code),
      ['ERR_SERVICE_UNAVAILABLE'],
    )
  }

  it('stay connected, come back afterwards, and hear all of it, once and in order', async () => {
    const token = await tokenOf(app, 'lin')
    const [stays, goes] = [await connect(h, app, 'lin', { token }), await connect(h, app, 'lin', { token })]
    await say(app, 'ada', 'lin', 'One')
    await untilAllHeard(app, [stays, goes])
    const { resource } = goes.welcome
    const position = goes.position()
    goes.cut()
    await say(app, 'ada', 'lin', 'Two')
    await until('it hears it', () => textsIn(stays).includes('Two'))

    await postgres.stop('immediate')
    const post = () => app.post('/messages', { receiver: 'lin', receiverType: 'user', data: { text: 'No' } }, as('ada'))
    assertFails(await post(), 503, 'ERR_SERVICE_UNAVAILABLE')
    await stays.reached()
    const typing = { receiver: 'ada', receiverType: 'user', body: { action: 'started' } }
    assert.equal((await stays.ask({ type: 'typing_indicator', ...typing })).body.code, 'ERR_SERVICE_UNAVAILABLE')
    await isAskedToTryAgain(token)
    await isAskedToTryAgain(token, { position, resource })

    await postgres.start()
    await until('it is written again', async () => {
      const body = { receiver: 'lin', receiverType: 'user', data: { text: 'Three' }, muid: 'three' }
      return (await app.post('/messages', body, as('ada'))).status === 200
    })
    const back = await connect(h, app, 'lin', { token, auth: { position, resource } })
    await untilAllHeard(app, [stays, back])
    assert.equal(back.welcome.resumed, true)
    const isWord = (text: string) => ['One', 'Two', 'Three', 'No'].includes(text)
    assert.deepEqual(textsIn(stays).filter(isWord), ['One', 'Two', 'Three'])
    assert.deepEqual(textsIn(back).filter(isWord), ['Two', 'Three'])
    await stays.close()
    await back.close()
  })
})
