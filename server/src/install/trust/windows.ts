import type { Authority } from './authority.ts'
import type { Machine } from './machine.ts'
import { complaintOf, type TrustStore } from './store.ts'

/** The root certificates of whoever runs this. Edge, Chrome and Firefox read them. */
export function windowsStore({ run }: Machine, { file, sha1 }: Authority): TrustStore {
  const certutil = (...words: string[]) => run('certutil', ['-user', ...words])
  return {
    name: 'your trusted root certificates',
    has() {
      const { state } = certutil('-verifystore', 'Root', sha1)
      return state === 'missing' ? undefined : state === 'done'
    },
    add: () => complaintOf('certutil', certutil('-addstore', 'Root', file)),
    remove: () => complaintOf('certutil', certutil('-delstore', 'Root', sha1)),
    obstacle: undefined,
    byHand: {
      add: [`certutil -user -addstore Root "${file}"`],
      remove: [`certutil -user -delstore Root ${sha1}`],
    },
  }
}
