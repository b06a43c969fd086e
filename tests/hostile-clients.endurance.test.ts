import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Answer } from './support/http.ts'
import { type AppOnDisk, type Install, install, type ServerProcess } from './support/server-process.ts'
import { until } from './support/until.ts'
import { requestText, type Wire, wire } from './support/wire.ts'

/** Clients that ask for much and read nothing, or send without end, against a server of their own. */

const megabyte = 1_000_000
const askedAgain = 4
const vouched = { 'X-Forwarded-Proto': 'https' }

const ways = [
  { name: 'TLS', secure: true, headers: {} },
  { name: 'plain HTTP from a trusted proxy', secure: false, headers: vouched },
]

for (const { name, secure, headers } of ways) {
  describe(`memory of the server, over ${name}`, () => {
    let site: Install
    let app: AppOnDisk
    let server: ServerProcess
    let lines: Wire[] = []
    let residentBefore = 0

    before(async () => {
      site = await install('sqlite', { PARLEY_TRUST_PROXY: '127.0.0.1' })
      app = await site.createApp('held')
      server = await site.start()
      // A list of more than a megabyte.
      const metadata = { text: 'x'.repeat(5_000) }
      for (let n = 0; n < 300; n += 1) {
        const created = await app.at(server).post('/users', { uid: `user-${n}`, name: 'User', metadata })
        assert.equal(created.status, 200, created.text)
      }
    })
    after(() => site.remove())

    async function figure(pattern: RegExp): Promise<number> {
      const { text } = await server.client.send('localhost', '/metrics')
      return Number(pattern.exec(text)?.[1] ?? 0)
    }
    const resident = () => figure(/^process_resident_memory_bytes (\d+)/m)
    const held = () => figure(/^parley_held_bytes (\d+)/m)
    const answered = (operation: string) =>
      figure(new RegExp(`^parley_request_seconds_count\\{operation="${operation}",status="\\d+"\\} (\\d+)`, 'm'))

    async function attack(count: number, text: (n: number) => string): Promise<void> {
      residentBefore = await resident()
      lines = []
      for (let n = 0; n < count; n += 1) {
        const line = await wire(server.port, { secure, deaf: true })
        line.say(text(n))
        lines.push(line)
      }
    }

    /** Waits until the server answers nothing any more but those who ask the same and read what they get. */
    async function comesToRest(operation: string, ask: () => Promise<Answer>): Promise<void> {
      await until(
        'nothing more is answered',
        async () => {
          const before = await answered(operation)
          for (let n = 0; n < askedAgain; n += 1) assert.equal((await ask()).status, 200)
          return (await answered(operation)) === before + askedAgain
        },
        120_000,
      )
    }

    /** What is held stays; what is only not cleared away yet goes, later where the machine is busy. */
    async function assertGrownBy(most: number, test: TestContext): Promise<void> {
      let grown = 0
      try {
        await until('it has grown by no more than it may', async () => {
          grown = (await resident()) - residentBefore
          return grown < most
        })
      } finally {
        test.diagnostic(`grown by ${Math.round(grown / megabyte)} MB`)
      }
    }

    /** Everybody leaves; nothing of theirs stays behind. */
    async function assertReturns(): Promise<void> {
      for (const { socket } of lines) socket.destroy()
      await until('nothing is held', async () => (await held()) === 0)
      assert.equal((await app.at(server).get('/users/user-1')).status, 200)
    }

    it('does not grow with requests that are sent ahead by somebody who reads no answer', async (test) => {
      const list = requestText('GET', '/v3/users?perPage=300', { ...headers, Host: app.host, apikey: app.apiKey })
      await attack(4, () => list.repeat(200))
      await comesToRest('listUsers', () => app.at(server).get('/users?perPage=300'))
      await assertGrownBy(200 * megabyte, test)
      await assertReturns()
    })

    it('does not grow with downloads of the large pages that nobody reads', async (test) => {
      const pages = ['/openapi.json', '/docs']
      // What making them takes is no matter of who reads them.
      for (const page of pages) assert.equal((await server.client.send('localhost', page)).status, 200)
      await attack(200, (n) => requestText('GET', pages[n % pages.length] as string, headers))
      await comesToRest('/openapi.json', () => server.client.send('localhost', '/openapi.json'))
      await assertGrownBy(100 * megabyte, test)
      await assertReturns()
    })

    it('does not grow with bodies that come in one byte at a time', async (test) => {
      const head = requestText('POST', '/v3/messages', {
        ...headers,
        ...{ Host: app.host, apikey: app.apiKey, 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' },
      })
      // More pieces of one body are refused.
      await attack(240, () => head + '1\r\n \r\n'.repeat(4_000))
      await until('the bodies are there', async () => (await held()) >= 240 * 4_000, 50_000)
      await assertGrownBy(150 * megabyte, test)
      await assertReturns()
    })
  })
}
