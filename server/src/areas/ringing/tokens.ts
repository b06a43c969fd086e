import type { Secrets } from '../../kit/ports.ts'
import { isSameSecret } from '../../plain/same-secret.ts'

/** With a call token a device joins the session of a call. It is signed, not stored, and good for one user for a few minutes. */

export const tokenSeconds = 300

export interface CallPass {
  appId: string
  sessionId: string
  uid: string
  /** Until when one can join with it. */
  until: number
}

const textOf = ({ appId, sessionId, uid, until }: CallPass) => JSON.stringify([appId, sessionId, uid, until])

const signatureOf = (secrets: Secrets, text: string) => secrets.fingerprint(`call token ${text}`)

export function callToken(secrets: Secrets, pass: CallPass): string {
  const text = textOf(pass)
  return `${Buffer.from(text).toString('base64url')}.${signatureOf(secrets, text)}`
}

/** What a token lets in; nothing, if it is not one of ours, or its time is over. */
export function passIn(secrets: Secrets, token: string, now: number): CallPass | undefined {
  const [body = '', signature = '', ...rest] = token.split('.')
  const text = Buffer.from(body, 'base64url').toString()
  if (rest.length > 0 || !isSameSecret(signature, signatureOf(secrets, text))) return undefined
  const [appId, sessionId, uid, until] = JSON.parse(text) as [string, string, string, number]
  return until > now ? { appId, sessionId, uid, until } : undefined
}
