import { settingsList } from '../config.ts'
import { type Command, table } from './command.ts'

export const config: Command = {
  name: 'config',
  usage: ['parley config'],
  about: 'Show the effective settings; secrets are starred.',
  showsSettings: true,
  async run({ config: effective }) {
    const values = Object.values(effective).map((value) => {
      if (value === undefined) return ''
      if (Array.isArray(value)) return value.map((part) => (Array.isArray(part) ? part.join('/') : part)).join(',')
      return String(value)
    })
    const rows = settingsList.map(({ variable, about }, i) => [variable, values[i] || '-', about])
    return {
      text: table(rows),
      data: Object.fromEntries(settingsList.map(({ variable }, i) => [variable, values[i] || null])),
    }
  },
}
