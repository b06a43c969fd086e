import { createAuthToken } from '../generated/operations.ts'
import { type Connection, call } from '../http/call.ts'
import { ParleyError, usageError } from '../http/errors.ts'

/** Why a token is asked for: to log in, or because the last one was refused. */
export type TokenReason = 'login' | 'refused'

/** A token; who makes one each time it is needed; or, for prototypes, whose it is and a key that makes tokens. */
export type TokenSource =
  | string
  | ((asked: { reason: TokenReason }) => string | Promise<string>)
  | { uid: string; authOnlyKey: string }

export interface Tokens {
  current(): Promise<string>
  /** Another one in place of one that was refused; an error where there is none. */
  renewed(refused: string): Promise<string>
  forget(): void
}

export function tokensFrom(source: TokenSource, connection: Connection): Tokens {
  let last: Promise<string> | undefined

  async function ask(reason: TokenReason): Promise<string> {
    const token = typeof source === 'string' ? source : await made(reason)
    if (typeof token !== 'string' || token === '')
      throw usageError('token must be, or answer, a text that is not empty')
    return token
  }

  async function made(reason: TokenReason): Promise<string> {
    if (typeof source === 'function') return source({ reason })
    const { uid, authOnlyKey } = source as { uid: string; authOnlyKey: string }
    const headers = { ...connection.headers, apikey: authOnlyKey }
    return (await call({ ...connection, headers }, createAuthToken, { uid })).authToken
  }

  /** Whoever asks meanwhile waits for the same; what failed is asked for again. */
  function keep(asking: Promise<string>): Promise<string> {
    last = asking
    asking.catch(() => {
      if (last === asking) last = undefined
    })
    return asking
  }

  return {
    current: () => last ?? keep(ask('login')),
    async renewed(refused) {
      const known = await (last ?? Promise.resolve(refused)).catch(() => refused)
      if (known !== refused) return known
      const token = await keep(ask('refused'))
      if (token === refused) throw refusedError()
      return token
    },
    forget() {
      last = undefined
    },
  }
}

export function refusedError(): ParleyError {
  const message = 'The token is not, or no longer, good: log in again with another one.'
  return new ParleyError({ code: 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND', kind: 'auth', message })
}
