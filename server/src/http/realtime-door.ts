import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { NamedApp } from '../dispatch/doors/app.ts'
import { type ApiError, badRequest } from '../kit/errors.ts'
import { addressReader } from './address.ts'
import { appNamedIn } from './credentials.ts'
import { plainHttpRefused } from './errors.ts'
import type { Upgrade } from './listener.ts'
import { asksForWebSocket, readingProblem } from './request-head.ts'

interface Parts {
  domain: string
  isSecure(request: IncomingMessage): boolean
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, named: NamedApp): void
}

const path = /^(?:https?:\/\/[^/]*)?\/v3(?:\.0)?\/realtime\/?(?:\?(.*))?$/i

/** Where devices come in that stay connected. */
export function createRealtimeDoor({ domain, isSecure, accept }: Parts): Upgrade {
  const readAddress = addressReader(domain)

  /** A page cannot send headers along; so where the host names no app, the address may. */
  function namedIn({ headers, url = '' }: IncomingMessage): NamedApp {
    const named = appNamedIn(readAddress(headers.host), headers)
    const inQuery = new URLSearchParams(path.exec(url)?.[1]).get('appid')?.toLowerCase()
    return { ...named, appId: named.appId ?? inQuery }
  }

  return {
    isAskedFor: (request) => asksForWebSocket(request) && path.test(request.url ?? ''),
    takeOver(request, handOver) {
      if (!isSecure(request)) return plainHttpRefused()
      const problem = readingProblem(request) ?? handshakeProblem(request)
      if (problem) return problem
      const { socket, head } = handOver()
      accept(request, socket, head, namedIn(request))
      return undefined
    },
  }
}

const keyForm = /^[+/0-9A-Za-z]{22}==$/
const version = '13'

/** What a handshake lacks; answered here, where it can be said in words. */
function handshakeProblem({ method, headers }: IncomingMessage): ApiError | undefined {
  if (method !== 'GET') return badRequest({ Upgrade: ['must be asked for with GET'] })
  if (!keyForm.test(headers['sec-websocket-key'] ?? '')) {
    return badRequest({ 'Sec-WebSocket-Key': ['must be 16 bytes in Base64'] })
  }
  if (headers['sec-websocket-version'] === version) return undefined
  return badRequest({ 'Sec-WebSocket-Version': [`must be ${version}`] })
}
