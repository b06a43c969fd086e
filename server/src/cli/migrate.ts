import { areas } from '../areas/index.ts'
import { openDatabase } from '../compose.ts'
import { migrate as migrateDatabase } from '../storage/migrate.ts'
import type { Command } from './command.ts'

export const migrate: Command = {
  name: 'migrate',
  usage: ['parley migrate'],
  about: 'Bring the database up to date. Starting the server does the same.',
  async run({ config }) {
    const database = await openDatabase(config)
    try {
      const steps = await migrateDatabase(
        database,
        areas.map((area) => area.migrations),
      )
      const text =
        steps.length === 0 ? 'The database is up to date.' : `Took ${steps.length} steps:\n  ${steps.join('\n  ')}`
      return { text, data: { steps } }
    } finally {
      await database.close()
    }
  },
}
