import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { House } from '../compose.ts'
import { restoreRows, restoreSecrets } from '../install/backup.ts'
import { openDataFolder } from '../install/data-folder.ts'
import { type Command, required, UsageError, withHouse } from './command.ts'

export const restore: Command = {
  name: 'restore',
  usage: ['parley restore --from FILE'],
  about:
    'Load a backup into an empty install; it may have been made by an older version, and on the other kind of database.',
  options: { from: { type: 'string', about: 'The backup to load' } },
  async run(invocation) {
    const { config } = invocation
    const file = resolve(required(invocation, 'from'))
    if (!existsSync(file)) throw new UsageError(`There is no file ${file}.`)
    openDataFolder(config.data)
    // Rows go into tables as they were when it was made; what has changed since is then done to them, as in an upgrade.
    const { migrations: steps } = await restoreSecrets(config, file)
    const load = async (house: House) => {
      const { rows } = await restoreRows(house, file)
      return { text: `Restored ${rows} rows from ${file}.`, data: { file, rows } }
    }
    return withHouse(config, load, { steps })
  },
}
