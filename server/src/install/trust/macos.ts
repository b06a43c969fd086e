import { join } from 'node:path'
import type { Authority } from './authority.ts'
import type { Machine } from './machine.ts'
import { complaintOf, quoted, type TrustStore } from './store.ts'

/** The keychain of whoever runs this; with administrator's rights, that of the system. Safari, Chrome and Firefox read both. */
export function macosStore({ isAdministrator, home, run }: Machine, { file, sha256 }: Authority): TrustStore {
  const keychain = isAdministrator
    ? '/Library/Keychains/System.keychain'
    : join(home, 'Library/Keychains/login.keychain-db')
  const forAll = isAdministrator ? ['-d'] : []
  const adding = ['add-trusted-cert', ...forAll, '-r', 'trustRoot', '-k', keychain, file]
  const distrusting = ['remove-trusted-cert', ...forAll, file]
  const deleting = ['delete-certificate', '-Z', sha256.toUpperCase(), keychain]
  const security = (words: string[]) => complaintOf('security', run('security', words))
  const written = (words: string[]) => ['security', ...words].map(quoted).join(' ')
  return {
    name: `the keychain ${keychain}`,
    has() {
      const { state, output } = run('security', ['find-certificate', '-a', '-Z', keychain])
      return state === 'done' ? output.toLowerCase().includes(sha256) : undefined
    },
    add: () => security(adding),
    remove: () => security(distrusting) ?? security(deleting),
    obstacle: undefined,
    byHand: { add: [written(adding)], remove: [distrusting, deleting].map(written) },
  }
}
