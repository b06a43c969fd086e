import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { WebSocket } from 'ws'
import { eventsByName } from '../../server/src/dispatch/events-by-name.ts'
import { rateLimits } from '../../server/src/dispatch/limits.ts'
import { ratesOf } from '../../server/src/dispatch/rates.ts'
import { openGateway } from '../../server/src/gateway/gateway.ts'
import { createObserver } from '../../server/src/http/observe.ts'
import { openTail } from '../../server/src/workers/tail.ts'
import type { AppClient, House } from './house.ts'

/** A gateway as another node would have it, in this process: it hears the same log, and knows nothing of the first one. */
export interface SecondGateway {
  openSocket(app: AppClient): WebSocket
  close(): void
}

export async function secondGateway({ service }: House): Promise<SecondGateway> {
  const { house, doors, dispatch, registry } = service
  const { database, tools, areas, reader } = house
  const log = pino({ level: 'silent' })
  const tail = openTail(reader, eventsByName(areas), log)
  const { begin, end } = createObserver(log)
  const windows = ratesOf(areas).map(({ name, seconds }) => [name, { limit: 1_000_000, seconds }] as const)
  const limits = rateLimits(house.counters, new Map(windows))
  const gateway = await openGateway({
    ...{ database, tools, areas, tail, doors, dispatch, registry, limits, begin, end, log },
  })
  const server = createServer()
  server.on('upgrade', (request, socket, head) => {
    const appId = new URL(request.url ?? '', 'http://localhost').searchParams.get('appid') ?? undefined
    gateway.accept(request, socket, head, { appId, region: undefined })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    openSocket: ({ id }) => new WebSocket(`ws://127.0.0.1:${port}/v3/realtime?appid=${id}`),
    close() {
      gateway.close()
      tail.close()
      server.close()
    },
  }
}
