import type { Audit } from '../../kit/area.ts'
import { keysOf, toApiKey } from './store.ts'

export const audit: Audit = {
  async ofApp(db, { secrets }) {
    const rows = await keysOf(db).execute()
    const unreadable = rows.filter((row) => {
      try {
        return secrets.fingerprint(toApiKey(row, secrets).apiKey) !== row.fingerprint
      } catch {
        return true
      }
    })
    return {
      [`all of its ${rows.length} API keys open under the master key`]: unreadable.map(
        ({ name }) => `the key "${name}" does not; is this the right master key?`,
      ),
    }
  },
}
