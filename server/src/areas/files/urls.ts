import { timingSafeEqual } from 'node:crypto'
import type { Tools } from '../../kit/ports.ts'
import { originOf } from '../../plain/place.ts'

/**
 * Addresses of files are signed by the install itself, whatever store holds the bytes. The signature names the app, the
 * file, the purpose and the end of its life; whoever has the address needs nothing else.
 */
export type Purpose = 'download' | 'upload'

export interface Ticket {
  appId: string
  key: string
  expiresAt: number
}

type Signing = Pick<Tools, 'secrets' | 'place' | 'clock' | 'fileLimits'>

export const uploadSeconds = 15 * 60

/** The address a file can be fetched from. It stays the same for a while, so that clients can keep what they fetched. */
export function signedUrl(tools: Signing, appId: string, key: string, name: string): string {
  const window = tools.fileLimits.urlSeconds
  const expiresAt = (Math.floor(tools.clock.now() / window) + 2) * window
  const token = tokenFor(tools, 'download', { appId, key, expiresAt })
  return `${origin(tools, appId)}/files/${token}/${encodeURIComponent(name.toWellFormed())}`
}

/** The address a file can be sent to, and until when. */
export function uploadUrl(tools: Signing, appId: string, key: string): { uploadUrl: string; expiresAt: number } {
  const expiresAt = tools.clock.now() + uploadSeconds
  const token = tokenFor(tools, 'upload', { appId, key, expiresAt })
  return { uploadUrl: `${origin(tools, appId)}/files/${token}`, expiresAt }
}

/**
 * The file of this app that an address leads to; nothing if it is not one of ours, or no longer valid. The signature
 * tells, not the host: an install may be reached by several.
 */
export function fileKeyIn(tools: Signing, appId: string, url: string): string | undefined {
  const token = /^https:\/\/[^/?#]+\/files\/([^/?#]+)\/[^/#]*$/.exec(url)?.[1]
  const ticket = token === undefined ? undefined : ticketIn(tools, 'download', token)
  return ticket?.appId === appId && ticket.expiresAt > tools.clock.now() ? ticket.key : undefined
}

/** What a token says, if this install has signed it for this purpose. */
export function ticketIn({ secrets }: Pick<Tools, 'secrets'>, purpose: Purpose, token: string): Ticket | undefined {
  const [, appId, key, expiry, signature] = /^([a-z0-9]+)\.([\w-]+)\.([a-z0-9]{1,10})\.([\w-]{43})$/.exec(token) ?? []
  if (!appId || !key || !expiry || !signature) return undefined
  const expected = secrets.fingerprint(signedText(purpose, appId, key, expiry))
  if (!timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) return undefined
  return { appId, key, expiresAt: Number.parseInt(expiry, 36) }
}

function tokenFor({ secrets }: Signing, purpose: Purpose, { appId, key, expiresAt }: Ticket): string {
  const expiry = expiresAt.toString(36)
  return `${appId}.${key}.${expiry}.${secrets.fingerprint(signedText(purpose, appId, key, expiry))}`
}

// No other fingerprint of the install is made of a text that begins like this.
function signedText(purpose: Purpose, appId: string, key: string, expiry: string): string {
  return `file ${purpose} ${appId} ${key} ${expiry}`
}

function origin({ place }: Signing, appId: string): string {
  return originOf(place, `${appId}.api-${place.region}`)
}
