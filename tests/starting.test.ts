import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, it } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../server/src/config.ts'
import { startService } from '../server/src/service.ts'
import { databases, preparedDatabase } from './support/databases.ts'

const silentLog = pino({ level: 'silent' })

for (const database of databases) {
  describe(`a start that fails on ${database}`, () => {
    it('leaves nothing behind: the folder and the database are free for the next one', async () => {
      const fresh = await preparedDatabase(database)
      const inTheWay = createServer().listen(0, '127.0.0.1')
      await once(inTheWay, 'listening')
      const { port } = inTheWay.address() as AddressInfo
      const at = (chosen: number) =>
        readConfig({ ...fresh.environment, PARLEY_HOST: '127.0.0.1', PARLEY_PORT: String(chosen) })
      await assert.rejects(startService(at(port), silentLog), { code: 'EADDRINUSE' })
      const service = await startService(at(0), silentLog)
      await service.stop()
      inTheWay.close()
      await fresh.drop()
    })
  })
}
