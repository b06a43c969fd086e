import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type DatabaseName, databases } from '../support/databases.ts'
import { connect, reconnect, untilTold } from '../support/device.ts'
import { type AppClient, type House, house } from '../support/house.ts'
import { appWith, say } from '../support/talk.ts'
import { acrossApps } from '../support/tripwire.ts'

/** A database may be set back under a running node, as by a backup or by a standby that lacks the last commits. */

/** Lets the numbers of events come again. */
const goOnAfter: Record<DatabaseName, (id: number) => string> = {
  sqlite: (id) => `UPDATE sqlite_sequence SET seq = ${id} WHERE name = 'events'`,
  postgres: (id) => `SELECT setval(pg_get_serial_sequence('events', 'id'), ${id})`,
}

for (const database of databases) {
  describe(`a log that was set back, on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database, livePatience: { aheadMilliseconds: 50 } })
      app = await appWith(h, 'ada', 'lin')
    })
    after(() => h.close())

    async function setBackTo(id: number): Promise<void> {
      const { database: store, reader } = h.service.house
      await acrossApps(() =>
        store.writeAlone(async (connection) => {
          await connection.run(`DELETE FROM events WHERE id > ${id}`, [])
          await connection.run(goOnAfter[database](id), [])
        }),
      )
      reader.doubt()
      await reader.readAll()
    }

    it('lets devices go, and they are told to fetch anew', async () => {
      const { database: store } = h.service.house
      const lin = await connect(h, app, 'lin')
      const before = await store.logEnd()
      for (const text of ['One', 'Two', 'Three']) await say(app, 'ada', 'lin', text)
      await untilTold(h)
      await lin.reached()
      await setBackTo(before)
      await say(app, 'ada', 'lin', 'Another one')
      assert.equal((await lin.closed).code, 4503)
      const back = await reconnect(h, app, lin)
      assert.equal(back.welcome.resumed, false)
      await say(app, 'ada', 'lin', 'The next one')
      await untilTold(h)
      await back.reached()
      assert.deepEqual(
        back.frames.filter(({ type }) => type === 'message').map(({ body }) => body.data.text),
        ['The next one'],
      )
      await back.close()
    })
  })
}
