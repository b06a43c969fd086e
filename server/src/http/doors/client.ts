import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../../kit/operation.ts'
import type { Directory, KnownApp } from '../directory.ts'
import { authTokenUnknown, noAuthToken } from '../errors.ts'
import { headerText } from './server.ts'

/** An API key decides when both are sent; without either, it is a server that forgot its key. */
export function isClient(headers: IncomingHttpHeaders): boolean {
  return headerText(headers.apikey) === undefined && headers.authtoken !== undefined
}

/** The door of end users: the header `authToken`. */
export async function enterAsClient(
  directory: Directory,
  app: KnownApp,
  headers: IncomingHttpHeaders,
): Promise<Extract<Caller, { kind: 'client' }>> {
  const authToken = headerText(headers.authtoken)
  if (authToken === undefined) throw noAuthToken()
  const holder = await directory.tokenHolder(app.id, authToken)
  if (!holder) throw authTokenUnknown()
  return { kind: 'client', uid: holder.uid, tokenFingerprint: holder.fingerprint }
}
