import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Authority } from './authority.ts'
import type { Machine } from './machine.ts'
import { complaintOf, quoted, type TrustStore } from './store.ts'

/** The stores that browsers on Linux have of their own, in the form of the library NSS. */

const databaseFile = 'cert9.db'
// Of the system's packages, of snaps and of flatpaks; former places and present ones.
const homes = ['.', 'snap/*/{current,common}', '.var/app/*']
const places = [
  { browser: 'Chromium', folder: '.pki/nssdb' },
  { browser: 'Chromium', folder: '.local/share/pki/nssdb' },
  { browser: 'Firefox', folder: '.mozilla/firefox/*' },
  { browser: 'Firefox', folder: '.config/mozilla/firefox/*' },
]
const trustedToNameServers = 'C,,'

/** One for each browser, and for Firefox each profile, that was started before. */
export function browserStores(machine: Machine, authority: Authority): TrustStore[] {
  const found = homes.flatMap((home) =>
    places.flatMap(({ browser, folder }) =>
      globSync(join(home, folder, databaseFile), { cwd: machine.home }).map((file) => ({
        browser,
        folder: join(machine.home, dirname(file)),
      })),
    ),
  )
  if (found.length === 0) return []
  const hasTool = machine.run('certutil', ['-H']).state !== 'missing'
  return found.map(({ browser, folder }) => storeIn(folder, browser, hasTool, machine, authority))
}

function storeIn(
  folder: string,
  browser: string,
  hasTool: boolean,
  { run }: Machine,
  { file, pem, nickname }: Authority,
): TrustStore {
  const database = ['-d', `sql:${folder}`]
  const named = ['-n', nickname]
  const adding = ['-A', ...database, '-t', trustedToNameServers, ...named, '-i', file]
  const deleting = ['-D', ...database, ...named]
  const certutil = (words: string[]) => complaintOf('certutil', run('certutil', words))
  const written = (words: string[]) => ['certutil', ...words].map(quoted).join(' ')
  return {
    name: `${browser} (${folder})`,
    has() {
      const { state, output } = run('certutil', ['-L', ...database, ...named, '-a'])
      return state === 'missing' ? undefined : state === 'done' && plain(output) === plain(pem)
    },
    add: () => certutil(adding),
    remove: () => certutil(deleting),
    obstacle: hasTool
      ? undefined
      : 'the command certutil is missing (package libnss3-tools on Debian and Ubuntu, nss-tools on Fedora, nss on Arch)',
    byHand: { add: [written(adding)], remove: [written(deleting)] },
  }
}

/** Lines may be broken elsewhere. */
function plain(pem: string): string {
  return pem.replaceAll(/\s/g, '')
}
