import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { restoreRows, restoreSecrets } from '../install/backup.ts'
import { openDataFolder } from '../install/data-folder.ts'
import { type Command, required, UsageError, withHouse } from './command.ts'

export const restore: Command = {
  name: 'restore',
  usage: ['parley restore --from FILE'],
  about: 'Load a backup into an empty install; it may have been made on the other kind of database.',
  options: { from: { type: 'string', about: 'The backup to load' } },
  async run(invocation) {
    const { config } = invocation
    const file = resolve(required(invocation, 'from'))
    if (!existsSync(file)) throw new UsageError(`There is no file ${file}.`)
    openDataFolder(config.data)
    await restoreSecrets(config, file)
    return withHouse(config, async (house) => {
      const { rows } = await restoreRows(house, file)
      return { text: `Restored ${rows} rows from ${file}.`, data: { file, rows } }
    })
  },
}
