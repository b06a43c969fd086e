import type { Runtime } from '../runtime/runtime.ts'
import type { Body } from './body.ts'
import { abortedError, type ErrorDetails, kindOf, ParleyError } from './errors.ts'

/** One request over the network, with one answer or one error. */

export interface Request {
  url: string
  method: string
  headers: Record<string, string>
  body: Body | undefined
}

export interface Patience {
  /** How long an answer may take, to its last byte. */
  timeoutMs: number
  signal: AbortSignal | undefined
}

export async function attempt(request: Request, { timeoutMs, signal }: Patience, runtime: Runtime): Promise<object> {
  if (signal?.aborted) throw abortedError()
  const controller = runtime.abortController()
  const abort = () => controller.abort()
  signal?.addEventListener('abort', abort)
  let isLate = false
  const callOff = runtime.after(timeoutMs, () => {
    isLate = true
    abort()
  })
  try {
    return await exchange(request, controller.signal, runtime)
  } catch (error) {
    if (ParleyError.is(error)) throw error
    if (signal?.aborted) throw abortedError()
    throw isLate ? timeoutError(timeoutMs) : networkError(error)
  } finally {
    callOff()
    signal?.removeEventListener('abort', abort)
  }
}

async function exchange({ url, method, headers, body }: Request, signal: AbortSignal, runtime: Runtime) {
  const response = await runtime.fetch(url, {
    method,
    headers: { ...headers, ...body?.headers },
    ...(body && { body: body.content }),
    signal,
    // Whoever is led elsewhere would take the credentials along.
    redirect: 'error',
  })
  const answer = parsed(await response.text())
  if (response.ok && 'data' in answer) return answer
  throw errorIn(response, answer)
}

/** What else than an object comes is not of this server. */
function parsed(text: string): object {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

interface ErrorAnswer {
  error?: { code?: unknown; message?: unknown; details?: ErrorDetails }
}

function errorIn({ status, ok, headers }: Response, answer: ErrorAnswer): ParleyError {
  const { code, message, details } = answer.error ?? {}
  const known = typeof code === 'string' ? code : 'ERR_UNREADABLE_ANSWER'
  return new ParleyError({
    code: known,
    // What is good and cannot be read was cut off, or is not of this server.
    kind: ok ? 'server' : kindOf(status, known),
    message: typeof message === 'string' ? message : `The server answered ${status} in a way that is not known.`,
    details,
    retryAfterMs: millisecondsIn(headers.get('Retry-After')),
    requestId: headers.get('X-Request-Id') ?? undefined,
  })
}

/** Of the two ways to say it, servers of Parley use seconds. */
function millisecondsIn(retryAfter: string | null): number | undefined {
  return retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : undefined
}

function timeoutError(timeoutMs: number): ParleyError {
  const message = `No answer came within ${timeoutMs} ms.`
  return new ParleyError({ code: 'ERR_TIMEOUT', kind: 'network', message })
}

/** Where the place tells why, such as a certificate that it does not trust, so does the error. */
function networkError(cause: unknown): ParleyError {
  const reason = (cause as { cause?: { message?: unknown } } | undefined)?.cause?.message
  const why = typeof reason === 'string' && reason !== '' ? ` (${reason})` : ''
  const message = `The server could not be reached, or was lost before it answered${why}.`
  return new ParleyError({ code: 'ERR_NETWORK', kind: 'network', message, cause })
}
