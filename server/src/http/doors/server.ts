import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../../kit/operation.ts'
import type { Address } from '../address.ts'
import type { Directory, KnownApp } from '../directory.ts'
import { apiKeyUnknown, invalidAppId, noApiKey, noAppId } from '../errors.ts'

// What cannot be one is refused before it takes room in a cache or time of the database.
const appIdForm = /^[a-z0-9]{1,32}$/
const apiKeyForm = /^[0-9a-f]{40}$/

/**
 * The app a request is for: its host name says so, else the header `appid`, else the install has only one. A header that
 * is sent twice arrives as one with a comma in it, and so is no app id.
 */
export async function resolveApp(
  directory: Directory,
  address: Address,
  headers: IncomingHttpHeaders,
): Promise<KnownApp> {
  const named = address.appId ?? headerText(headers.appid)?.toLowerCase()
  const app = named === undefined ? await directory.onlyApp() : await knownApp(directory, named)
  if (!app) throw named === undefined ? noAppId() : invalidAppId()
  if (address.region !== undefined && address.region !== app.region) throw invalidAppId()
  return app
}

async function knownApp(directory: Directory, id: string): Promise<KnownApp | undefined> {
  return appIdForm.test(id) ? directory.app(id) : undefined
}

/** The door of server-side callers: the header `apikey`. */
export async function enterAsServer(
  directory: Directory,
  app: KnownApp,
  headers: IncomingHttpHeaders,
): Promise<Extract<Caller, { kind: 'server' }>> {
  const apiKey = headerText(headers.apikey)
  if (apiKey === undefined) throw noApiKey()
  const key = apiKeyForm.test(apiKey) ? await directory.key(app.id, apiKey) : undefined
  if (!key) throw apiKeyUnknown()
  return { kind: 'server', scope: key.scope, keyFingerprint: key.fingerprint }
}

/** A header's value, unless blank. */
export function headerText(value: string | string[] | undefined): string | undefined {
  const text = (Array.isArray(value) ? value[0] : value)?.trim()
  return text === '' ? undefined : text
}
