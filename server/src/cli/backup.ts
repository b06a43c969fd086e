import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { backUp } from '../install/backup.ts'
import { type Command, table, UsageError, withExistingHouse } from './command.ts'

export const backup: Command = {
  name: 'backup',
  usage: ['parley backup [--to FILE] [--without-secrets] [--force]'],
  about: 'Write everything to one file, while the server runs. It holds the master key unless --without-secrets.',
  options: {
    to: { type: 'string', about: 'The file to write; named by the time if absent' },
    'without-secrets': { type: 'boolean', about: 'Leave out the master key and the certificates' },
    force: { type: 'boolean', about: 'Overwrite a file of that name' },
  },
  run: ({ config, flags }) =>
    withExistingHouse(config, async (house) => {
      const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-')
      const file = resolve(String(flags.to ?? `parley-${stamp}.backup`))
      if (existsSync(file) && flags.force !== true) throw new UsageError(`${file} exists; --force overwrites it.`)
      const withSecrets = flags['without-secrets'] !== true
      const report = await backUp(house, file, withSecrets)
      const rows = Object.entries(report.tables).map(([name, count]) => [`  ${name}`, String(count)])
      return {
        text: `Wrote ${report.rows} rows to ${report.file}${withSecrets ? ', with the master key: keep it safe' : ''}\n${table(rows)}`,
        data: report,
      }
    }),
}
