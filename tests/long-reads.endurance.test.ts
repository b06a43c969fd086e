import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { databases } from './support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from './support/house.ts'
import { type Asked, ask, probesOn, readersOf } from './support/long-reads.ts'
import { appWith, as, say } from './support/talk.ts'
import { until } from './support/until.ts'

const ofUserMax = 10

for (const database of databases) {
  describe(`a read that never ends, on ${database}`, () => {
    let h: House
    let app: AppClient
    let other: AppClient
    const underWay: Asked[] = []
    const { probes, asked, begun } = probesOn(database)
    before(async () => {
      h = await house({ database, areas: [probes] })
      app = await appWith(h, 'ada', 'lin')
      other = await appWith(h, 'ada', 'lin')
    })
    afterEach(async () => {
      for (const each of underWay.splice(0)) each.leave()
      // Whoever has left is out of the line once the next one is answered.
      assertSucceeds(await app.get('/long'))
    })
    after(() => h.close())

    const forever = (at: AppClient, uid?: string) => {
      const asking = ask(h, at, '/forever', uid)
      underWay.push(asking)
      return asking
    }

    /** A user's read that is under way, and as many that wait as may. */
    async function queue(uid: string): Promise<{ underWay: Asked; waiting: Asked[] }> {
      const before = begun()
      const underWay = forever(app, uid)
      await until('it is under way', () => begun() > before)
      const more = Array.from({ length: ofUserMax }, () => forever(app, uid))
      await until('one is too many', () => more.some((each) => each.isAnswered()))
      return { underWay, waiting: more.filter((each) => !each.isAnswered()) }
    }

    it('holds up nobody who sends, reads or searches in another app', async () => {
      const endless = [forever(app, 'ada'), forever(app, 'ada'), forever(app, 'lin'), forever(app)]
      for (let n = 0; n < 20; n += 1) {
        await say(other, 'ada', 'lin', `Hello ${n}`)
        assertSucceeds(await other.get('/conversations', as('lin')))
      }
      assert.equal(assertSucceeds(await other.get('/messages?searchKey=hello&limit=50', as('lin'))).data.length, 20)
      await say(app, 'lin', 'ada', 'The same app goes on, too')
      assert.deepEqual(
        endless.map((each) => each.isAnswered()),
        [false, false, false, false],
      )
    })

    it('lets each user ask for a few at once, and refuses more with a time to come back', async () => {
      const many = Array.from({ length: 100 }, () => forever(app, 'ada'))
      await until('all but a few are refused', () => many.filter((each) => each.isAnswered()).length === 90)
      const statuses = await Promise.all(many.filter((each) => each.isAnswered()).map(({ answered }) => answered))
      assert.deepEqual([...new Set(statuses)], [429])
      const refused = await app.get('/forever', as('ada'))
      assertFails(refused, 429, 'ERR_TOO_MANY_REQUESTS')
      assert.ok(Number(refused.headers['retry-after']) > 0)
      assert.ok(refused.body.error.details.retryAfter > 0)
      assertSucceeds(await other.get('/long', as('ada')))
    })

    it('has its turn, and those of others come before its next', async () => {
      const { underWay, waiting } = await queue('ada')
      const [askedBefore, before] = [asked(), begun()]
      const lin = ask(h, app, '/long', 'lin')
      await until('lin is in line', () => asked() > askedBefore)
      underWay.leave()
      assert.equal(await lin.answered, 200)
      assert.ok(begun() <= before + 1)
      assert.equal(waiting.length, ofUserMax - 1)
      assert.ok(waiting.every((each) => !each.isAnswered()))
    })

    it('is forgotten when nobody waits for it any more, whether it has begun or not', async () => {
      const { underWay, waiting } = await queue('ada')
      const before = begun()
      for (const each of [...waiting, underWay]) each.leave()
      await until('the user may ask again', async () => (await app.get('/long', as('ada'))).status === 200)
      // A few may have had their turn before the server heard that they had left; not all.
      assert.ok(begun() < before + waiting.length)
    })
  })

  describe(`a chain of statements, each of them short, on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database, areas: [probesOn(database).probes] })
    })
    after(() => h.close())

    for (const method of ['GET', 'POST']) {
      it(`lets others in between (${method})`, async () => {
        const app = await appWith(h, 'ada')
        const chain = ask(h, app, '/chain', 'ada', method)
        // The first of these may be answered before the chain begins.
        for (let time = 0; time < 3; time += 1) assertSucceeds(await app.get('/users/ada'))
        assert.equal(chain.isAnswered(), false)
        assert.equal(await chain.answered, 200)
      })
    }
  })

  describe(`a read that takes longer than it may, on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      const { probes } = probesOn(database)
      h = await house({ database, areas: [probes], environment: { PARLEY_READ_SECONDS: '1' } })
      app = await appWith(h, 'ada', 'lin')
    })
    after(() => h.close())

    it('is ended with an error that says what to do, and the next one is answered', async () => {
      // On a busy machine the first reader may take as long to start as a read may take.
      await until('there is a reader', async () => (await app.get('/long', as('ada'))).status === 200)
      for (let time = 0; time < 2; time += 1) {
        const answer = await app.get('/forever', as('ada'))
        assertFails(answer, 503, 'ERR_MISSION_FAILED')
        assert.match(answer.body.error.message, /longer than 1 s.*Ask for less/)
        await until('the next one is answered', async () => (await app.get('/long', as('ada'))).status === 200)
      }
    })

    it('keeps nobody waiting for longer than that either', async () => {
      const [first, second] = [ask(h, app, '/forever', 'ada'), ask(h, app, '/forever', 'lin')]
      assert.deepEqual(await Promise.all([first.answered, second.answered]), [503, 503])
    })
  })
}

describe('reader processes', () => {
  const { probes, begun } = probesOn('sqlite')
  let h: House
  let app: AppClient
  before(async () => {
    h = await house({ database: 'sqlite', areas: [probes] })
    app = await appWith(h, 'ada')
  })

  it('are started with the first long read', async () => {
    assertSucceeds(await app.get('/users/ada'))
    assert.deepEqual(readersOf(), [])
    assertSucceeds(await app.get('/users?searchKey=ad'))
    assert.equal(readersOf().length, 1)
  })

  it('that are killed fail the read under way alone, and are replaced', async () => {
    const begunBefore = begun()
    const asking = ask(h, app, '/forever', 'ada')
    await until('it is under way', () => begun() > begunBefore)
    const before = readersOf()
    for (const pid of before) process.kill(pid, 'SIGKILL')
    assert.equal(await asking.answered, 503)
    assertSucceeds(await app.get('/users?searchKey=ad'))
    assert.ok(readersOf().every((pid) => !before.includes(pid)))
  })

  it('see what was written a moment ago', async () => {
    for (let n = 0; n < 50; n += 1) {
      assertSucceeds(await app.post('/users', { uid: `fresh-${n}`, name: 'Somebody' }))
      assert.equal(
        assertSucceeds(await app.get(`/users?searchKey=fresh-${n}&searchIn=uid`)).data.at(0)?.uid,
        `fresh-${n}`,
      )
    }
  })

  it('are gone when the server has stopped, whatever they were doing', async () => {
    const before = begun()
    ask(h, app, '/forever', 'ada')
    await until('one is under way', () => begun() > before)
    await h.close()
    assert.deepEqual(readersOf(), [])
  })
})
