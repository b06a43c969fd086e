import { describe, it } from 'node:test'
import { databases } from './support/databases.ts'
import { assertFails, house } from './support/house.ts'

for (const database of databases) {
  describe(`names in bodies on ${database}`, () => {
    it('are taken as names, even those that every JavaScript object knows', async () => {
      const h = await house({ database })
      try {
        const app = await h.app('a')
        for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
          const raw = `{"name":"a key","${name}":"\\u0000"}`
          assertFails(await app.send('/apikeys', { method: 'POST', raw }), 400, 'ERR_BAD_REQUEST')
        }
      } finally {
        await h.close()
      }
    })
  })
}
