import type { IncomingHttpHeaders } from 'node:http'
import type { NamedApp } from '../dispatch/doors/app.ts'
import type { Credentials } from '../dispatch/doors/doors.ts'
import type { ManagementPair } from '../dispatch/doors/management.ts'
import type { Address } from './address.ts'

/**
 * The app that a request names: by its host name, else by the header `appid`. A header that is sent twice arrives as one
 * with a comma in it, and so is no app id.
 */
export function appNamedIn({ appId, region }: Address, headers: IncomingHttpHeaders): NamedApp {
  return { appId: appId ?? headerText(headers.appid)?.toLowerCase(), region }
}

/** The headers `apikey` and `authToken`. */
export function credentialsIn(headers: IncomingHttpHeaders): Credentials {
  const sentBlank = headers.authtoken === undefined ? undefined : ''
  return { apikey: headerText(headers.apikey), authToken: headerText(headers.authtoken) ?? sentBlank }
}

/** The headers `key` and `secret`, or the same pair as HTTP Basic. */
export function pairIn(headers: IncomingHttpHeaders): ManagementPair | undefined {
  const key = headerText(headers.key)
  const secret = headerText(headers.secret)
  if (key !== undefined && secret !== undefined) return { key, secret }
  const basic = /^basic\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1]
  const [name, ...rest] = Buffer.from(basic ?? '', 'base64')
    .toString('utf8')
    .split(':')
  return name && rest.length > 0 && !name.includes('\0') ? { key: name, secret: rest.join(':') } : undefined
}

const deviceForm = /^[\w-]{1,64}$/

/** The header `resource`: which of the user's connected devices asks. It opens nothing, so what cannot be one is no error. */
export function deviceIn({ resource }: IncomingHttpHeaders): string | undefined {
  const named = headerText(resource)
  return named !== undefined && deviceForm.test(named) ? named : undefined
}

/** A header's value, unless blank. */
export function headerText(header: string | string[] | undefined): string | undefined {
  const text = headerValue(header)?.trim()
  return text === '' ? undefined : text
}

export function headerValue(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
