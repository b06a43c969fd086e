import { type Authority, authorityIn } from '../install/trust/authority.ts'
import { type Machine, thisMachine } from '../install/trust/machine.ts'
import { changeTrust, type StoreOutcome } from '../install/trust/trust.ts'
import { type Command, table, UsageError } from './command.ts'

export const trust: Command = trustOn(thisMachine)

export function trustOn(machine: () => Machine): Command {
  return {
    name: 'trust',
    usage: ['parley trust [--undo]'],
    about:
      "Put the install's own certificate authority into the stores of this system and its browsers, so that they open its " +
      'addresses without a warning. What cannot be done from here is told, with the commands to do it by hand.',
    options: { undo: { type: 'boolean', about: 'Take it out again; before the data folder is deleted' } },
    async run({ config, flags }) {
      const authority = authorityIn(config.data)
      if (!authority) {
        throw new UsageError(
          `There is no certificate authority in ${config.data}: Parley makes it at its first start, unless it is given a ` +
            'certificate. PARLEY_DATA names another folder.',
        )
      }
      const shallTrust = flags.undo !== true
      const stores = changeTrust(machine(), authority, shallTrust)
      return {
        text: told(authority, stores, shallTrust),
        data: { authority: authority.file, sha256: authority.sha256, nickname: authority.nickname, stores },
        ok: stores.every(({ state }) => state !== 'failed'),
      }
    },
  }
}

function told({ file, sha256, nickname }: Authority, stores: StoreOutcome[], shallTrust: boolean): string {
  const lines = [`${nickname}: ${file}`, `SHA-256 ${sha256}`, '']
  if (stores.length === 0) lines.push('No store of certificates was found that Parley knows how to change.')
  lines.push(...(stores.length === 0 ? [] : [table(stores.map(({ store, state }) => [`  ${state}`, store]))]))
  for (const { store, why, commands = [] } of stores) {
    if (why === undefined) continue
    lines.push('', `For ${store}, ${why}. By hand:`, ...commands.map((each) => `  ${each}`))
  }
  return [...lines, ...(shallTrust ? closing(file, stores) : [])].join('\n')
}

const hasIt = ({ state }: StoreOutcome) => state === 'trusted' || state === 'trusted already'

function closing(file: string, stores: StoreOutcome[]): string[] {
  const elsewhere = [
    '',
    `Any other program trusts it when it imports ${file}. A browser that is open reads it when it starts again; one that is`,
    'not listed has to be started once first.',
  ]
  if (!stores.some(hasIt)) return elsewhere
  return [
    ...elsewhere,
    '',
    'Whoever can read ca-key.pem beside it can now pass for any site to these programs. "parley trust --undo" (npm run trust -- --undo) takes it out',
    'again; do that before the data folder is deleted.',
  ]
}
