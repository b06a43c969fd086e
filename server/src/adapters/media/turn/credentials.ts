import { createHmac } from 'node:crypto'

/** A name that says until when it holds, and a password that only who has the secret can make of it. */
export function relayCredentials(
  secret: string,
  whose: string,
  untilSeconds: number,
): { username: string; credential: string } {
  const username = `${untilSeconds}:${whose}`
  return { username, credential: createHmac('sha1', secret).update(username).digest('base64') }
}
