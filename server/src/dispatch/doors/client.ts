import type { Caller } from '../../kit/operation.ts'
import type { Directory, KnownApp } from '../directory.ts'
import { authTokenUnknown, noAuthToken } from '../errors.ts'

/** The door of end users: an auth token. */
export async function enterAsClient(
  directory: Directory,
  app: KnownApp,
  { authToken }: { authToken: string },
): Promise<Extract<Caller, { kind: 'client' }>> {
  if (authToken === '') throw noAuthToken()
  const holder = await directory.tokenHolder(app.id, authToken)
  if (!holder) throw authTokenUnknown()
  return { kind: 'client', uid: holder.uid, tokenFingerprint: holder.fingerprint }
}
