import { type Connection, call, type UserCall } from '../http/call.ts'
import { ParleyError } from '../http/errors.ts'
import type { Tokens } from './token.ts'

export interface Requests {
  request: UserCall
  /** Ends all that is under way, but for what has a signal of its own. */
  giveUp(): void
}

/**
 * A refused token is renewed once. No request says which device asks: so this one is told what it did as all others are, in
 * the order of the log, and never has to guess whether an answer is older than what it has heard.
 */
export function requester(connection: Connection, tokens: Tokens): Requests {
  let life: AbortController | undefined

  const request: UserCall = async (operation, input, options) => {
    life ??= connection.runtime.abortController()
    const how = { signal: life.signal, ...options }
    const token = await tokens.current()
    try {
      return await call(withToken(token), operation, input, how)
    } catch (error) {
      if (!ParleyError.is(error, 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND')) throw error
      return call(withToken(await tokens.renewed(token)), operation, input, how)
    }
  }

  function withToken(authToken: string): Connection {
    return { ...connection, headers: { ...connection.headers, authToken } }
  }

  return {
    request,
    giveUp() {
      life?.abort()
      life = undefined
    },
  }
}
