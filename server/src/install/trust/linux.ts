import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Authority } from './authority.ts'
import type { Machine } from './machine.ts'
import { complaintOf, quoted, type TrustStore } from './store.ts'

/** A folder of certificates that the system makes its store from, when it is told to. */
interface Anchors {
  folder: string
  extension: string
  update: [command: string, ...words: string[]]
}

const knownAnchors: Anchors[] = [
  // Fedora, RHEL and what is made from them
  { folder: 'etc/pki/ca-trust/source/anchors', extension: '.pem', update: ['update-ca-trust', 'extract'] },
  // Debian, Ubuntu, Alpine
  { folder: 'usr/local/share/ca-certificates', extension: '.crt', update: ['update-ca-certificates'] },
  // Arch
  { folder: 'etc/ca-certificates/trust-source/anchors', extension: '.crt', update: ['trust', 'extract-compat'] },
  // openSUSE
  { folder: 'usr/share/pki/trust/anchors', extension: '.pem', update: ['update-ca-certificates'] },
]

const readableByAll = 0o644

/** The system's store, if it is one of those that are known. */
export function linuxStore(machine: Machine, authority: Authority): TrustStore | undefined {
  const anchors = knownAnchors.find(({ folder }) => existsSync(join(machine.root, folder)))
  return anchors && storeOf(machine, authority, anchors)
}

function storeOf(machine: Machine, { file, pem, fileName }: Authority, anchors: Anchors): TrustStore {
  const target = join(machine.root, anchors.folder, `${fileName}${anchors.extension}`)
  const [command, ...words] = anchors.update
  const has = () => existsSync(target) && readFileSync(target, 'utf8') === pem
  const update = () => complaintOf(command, machine.run(command, words))

  /** Either all of it is done or nothing: a file that is there would look as if it was trusted. */
  function change(isThere: boolean): string | undefined {
    put(isThere)
    const complaint = update()
    if (complaint === undefined) return undefined
    put(!isThere)
    return complaint
  }

  function put(isThere: boolean): void {
    rmSync(target, { force: true })
    if (!isThere) return
    writeFileSync(target, pem)
    chmodSync(target, readableByAll)
  }

  const updating = `sudo ${anchors.update.join(' ')}`
  return {
    name: `the system's store (${target})`,
    has,
    add: () => change(true),
    remove: () => change(false),
    obstacle: machine.isAdministrator ? undefined : 'only the administrator can change it',
    byHand: {
      add: [`sudo install -m 644 ${quoted(file)} ${quoted(target)}`, updating],
      remove: [`sudo rm ${quoted(target)}`, updating],
    },
  }
}
