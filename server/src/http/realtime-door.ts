import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { NamedApp } from '../dispatch/doors/app.ts'
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
      const problem = readingProblem(request)
      if (problem) return problem
      const { socket, head } = handOver()
      accept(request, socket, head, namedIn(request))
      return undefined
    },
  }
}
