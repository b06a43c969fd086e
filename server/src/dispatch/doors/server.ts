import type { Caller } from '../../kit/operation.ts'
import type { Directory, KnownApp } from '../directory.ts'
import { apiKeyUnknown, noApiKey } from '../errors.ts'

// What cannot be one is refused before it takes room in a cache or time of the database.
const apiKeyForm = /^[0-9a-f]{40}$/

/** The door of server-side callers: an API key. */
export async function enterAsServer(
  directory: Directory,
  app: KnownApp,
  { apikey }: { apikey?: string | undefined },
): Promise<Extract<Caller, { kind: 'server' }>> {
  if (apikey === undefined) throw noApiKey()
  const key = apiKeyForm.test(apikey) ? await directory.key(app.id, apikey) : undefined
  if (!key) throw apiKeyUnknown()
  return { kind: 'server', scope: key.scope, keyFingerprint: key.fingerprint }
}
