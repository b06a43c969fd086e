import { answerTo, apiNotFound } from '../../server/src/dispatch/errors.ts'
import type { Mounted } from '../../server/src/dispatch/registry.ts'
import type { Trace } from '../../server/src/dispatch/trace.ts'
import { documentedPath } from '../../server/src/http/openapi.ts'
import type { ApiError } from '../../server/src/kit/errors.ts'
import type { Service } from '../../server/src/service.ts'
import { type Answer, type Client, parsed, type Sending } from './http.ts'

/** How a test's requests reach the server: over HTTPS, or straight into `dispatch`, as frames of a socket will. */
export const ways = ['http', 'dispatch'] as const
export type Way = (typeof ways)[number]

/** A client that takes what a request would say, and calls `dispatch` without one. */
export function dispatchClient({ dispatch, doors, registry }: Service, domain: string): Client {
  const places = placesOf(registry.operations.values())

  async function answered(host: string, path: string, sending: Sending, trace: Trace): Promise<string> {
    const { body, raw, signal } = sending
    const headers = new Map(Object.entries(sending.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]))
    const filled = (name: string) => headers.get(name)?.trim() || undefined
    const [, appId, region] = /^(\w+)\.\w+-(\w+)\./.exec(host) ?? []
    const [key, secret] = [filled('key'), filled('secret')]
    const isManagement = host === `apimgmt.${domain}`
    const app = isManagement ? undefined : await doors.app({ appId, region })
    const caller = app
      ? await doors.enter(app, { apikey: filled('apikey'), authToken: headers.get('authtoken')?.trim() })
      : await doors.enterManagement(key !== undefined && secret !== undefined ? { key, secret } : undefined)
    const [plain = '', query = ''] = path.split('?')
    const once = filled('idempotency-key')
    const reply = await dispatch(
      {
        app,
        caller,
        ...placeOf(places, sending.method ?? 'GET', plain),
        query,
        actAs: headers.get('onbehalfof'),
        once: once === undefined ? undefined : { key: once },
        sent: async () => {
          const text = String(raw ?? JSON.stringify(body) ?? '')
          return { text, body: text === '' ? {} : JSON.parse(text), files: [] }
        },
        gone: () => signal ?? new AbortController().signal,
      },
      trace,
    )
    return reply.text
  }

  return {
    async send(host, path, sending = {}) {
      const trace = newTrace()
      try {
        return answerOf(200, await answered(host, path, sending, trace))
      } catch (error) {
        const { code, status, message, devMessage = message, details } = answerTo(error, trace)
        if (trace.error !== undefined && process.env.PARLEY_TEST_LOG) console.error(trace.error)
        return answerOf(status, JSON.stringify({ error: { code, message, devMessage, source: 'dispatch', details } }))
      }
    },
    close() {},
  }
}

export function newTrace(): Trace {
  return {
    id: 'test',
    startedAt: 0,
    operation: 'none',
    appId: undefined,
    caller: undefined,
    actor: undefined,
    error: undefined,
    allowance: undefined,
  }
}

function answerOf(status: number, text: string): Answer {
  return { status, headers: {}, text, body: parsed(text) }
}

interface Place {
  mounted: Mounted
  method: string
  pattern: RegExp
}

/** Sorted by path: a word comes before a parameter in its place, as it does for requests. */
function placesOf(operations: Iterable<Mounted>): Place[] {
  return [...operations]
    .map((mounted) => ({ mounted, path: documentedPath(mounted.area, mounted.operation) }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ mounted, path }) => ({
      mounted,
      method: mounted.operation.method,
      pattern: new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
    }))
}

function placeOf(
  places: Place[],
  method: string,
  path: string,
): { operation: Mounted | ApiError; params: Record<string, string> } {
  const place = places.find((each) => each.method === method && each.pattern.test(path))
  if (!place) return { operation: apiNotFound(), params: {} }
  const params = Object.entries(place.pattern.exec(path)?.groups ?? {})
  return {
    operation: place.mounted,
    params: Object.fromEntries(params.map(([name, value]) => [name, decodeURIComponent(value)])),
  }
}
