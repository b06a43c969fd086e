import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { findManagementKey } from '../../areas/apps/index.ts'
import type { Caller } from '../../kit/operation.ts'
import type { Secrets } from '../../kit/ports.ts'
import type { Database } from '../../storage/database.ts'
import { apiKeyUnknown, noManagementCredentials } from '../errors.ts'
import { headerText } from './server.ts'

/** The door of those who run apps: the headers `key` and `secret`, or the same pair as HTTP Basic. */
export async function enterAsManagement(
  database: Database,
  secrets: Secrets,
  headers: IncomingHttpHeaders,
): Promise<Extract<Caller, { kind: 'management' }>> {
  const pair = pairOf(headers)
  if (!pair) throw noManagementCredentials()
  const known = await findManagementKey(database.reader.query, pair.key)
  if (!known || !same(known.secret_hash, secrets.fingerprint(pair.secret))) throw apiKeyUnknown()
  return { kind: 'management', accountId: known.account_id }
}

function pairOf(headers: IncomingHttpHeaders): { key: string; secret: string } | undefined {
  const key = headerText(headers.key)
  const secret = headerText(headers.secret)
  if (key !== undefined && secret !== undefined) return { key, secret }
  const basic = /^basic\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1]
  const [name, ...rest] = Buffer.from(basic ?? '', 'base64')
    .toString('utf8')
    .split(':')
  return name && rest.length > 0 && !name.includes('\0') ? { key: name, secret: rest.join(':') } : undefined
}

function same(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}
