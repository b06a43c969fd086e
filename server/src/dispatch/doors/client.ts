import type { Caller } from '../../kit/operation.ts'
import type { Directory, KnownApp } from '../directory.ts'
import { authTokenUnknown, noAuthToken } from '../errors.ts'

// What cannot be one is refused before it takes room in a cache or time of the database.
const charactersMax = 512

/** The door of end users: an auth token. */
export async function enterAsClient(
  directory: Directory,
  app: KnownApp,
  { authToken }: { authToken: string },
): Promise<Extract<Caller, { kind: 'client' }>> {
  if (authToken === '') throw noAuthToken()
  const holder = authToken.length > charactersMax ? undefined : await directory.tokenHolder(app.id, authToken)
  if (!holder) throw authTokenUnknown()
  return { kind: 'client', uid: holder.uid, tokenFingerprint: holder.fingerprint }
}
