import { resolve } from 'node:path'
import { backUp } from '../install/backup.ts'
import { type Command, table, withHouse } from './command.ts'

export const backup: Command = {
  name: 'backup',
  usage: 'parley backup [--to FILE] [--without-secrets]',
  about: 'Write everything to one file, while the server runs. It holds the master key unless --without-secrets.',
  options: { to: { type: 'string' }, 'without-secrets': { type: 'boolean' } },
  run: ({ config, flags }) =>
    withHouse(config, async (house) => {
      const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-')
      const file = resolve(String(flags.to ?? `parley-${stamp}.backup`))
      const report = await backUp(house, file, flags['without-secrets'] !== true)
      const rows = Object.entries(report.tables).map(([name, count]) => [`  ${name}`, String(count)])
      return { text: `Wrote ${report.file}\n${table(rows)}`, data: report }
    }),
}
