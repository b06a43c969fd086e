import { readFileSync } from 'node:fs'
import type { Runtime } from '../../sdk/src/index.ts'
import { socketAt } from '../support/device.ts'
import type { House } from '../support/house.ts'
import { fetchInto } from './house-fetch.ts'

/**
 * A place where a client runs: its network can fail, its time is moved by hand, and what it has open is counted. Waits
 * between attempts are over at once; whatever watches over something, such as a time-out, goes off when it is told to.
 */
export interface Place {
  runtime: Partial<Runtime>
  /** What the client has open. */
  open(): { timers: number; sockets: number; wakers: number }
  /** How many sockets were ever opened. */
  opened(): number
  /** What was asked for over HTTP. */
  asked: string[]
  /** All sockets end without a word. */
  cut(): void
  /** All sockets stay open, and nothing comes or goes over them any more. */
  mute(): void
  /** No socket can be opened, and no request arrives. */
  setAway(isAway: boolean): void
  /** What becomes of each request. */
  setFault(fault: (method: string, path: string) => 'pass' | 'cut' | 'lose'): void
  /** All that waits for so long goes off. */
  pass(milliseconds: number): number
  wake(): void
}

export const watches = {
  probe: 25_000,
  answer: 5_000,
  welcome: 15_000,
  request: 30_000,
  rest: 60_000,
  look: 10_000,
  stall: 30_000,
  typing: 4_500,
  writer: 6_000,
}

export function placeIn(h: House, { random = Math.random, webSocket = true } = {}): Place {
  const ca = readFileSync(h.service.caFile, 'utf8')
  const { port } = h.service
  const houseFetch = fetchInto(h)
  const watching = new Map<object, { milliseconds: number; run(): void }>()
  const timers = new Set<object>()
  const wakers = new Set<() => void>()
  const sockets = new Set<HouseSocket>()
  const asked: string[] = []
  let opened = 0
  let isAway = false
  let fault: Parameters<Place['setFault']>[0] = () => 'pass'

  /** As a browser's, to the house. */
  class HouseSocket {
    socket
    isMute = false
    constructor(url: string) {
      opened += 1
      const { host, pathname, search } = new URL(url)
      this.socket = socketAt({ port: isAway ? 1 : port, ca }, host, pathname + search)
      this.socket.on('error', () => {})
      sockets.add(this)
      this.socket.on('close', () => sockets.delete(this))
    }
    addEventListener(type: string, listener: (event: object) => void) {
      this.socket.addEventListener(type as 'message', (event) => {
        if (!this.isMute) listener(event)
      })
    }
    send(text: string) {
      if (!this.isMute) this.socket.send(text)
    }
    close() {
      this.socket.close()
    }
  }

  function after(milliseconds: number, run: () => void): () => void {
    const own = {}
    const end = () => {
      watching.delete(own)
      timers.delete(own)
    }
    timers.add(own)
    if (Object.values(watches).includes(milliseconds)) {
      watching.set(own, { milliseconds, run })
      return end
    }
    const timer = setTimeout(
      () => {
        end()
        run()
      },
      Math.min(milliseconds, 5),
    )
    return () => {
      clearTimeout(timer)
      end()
    }
  }

  const runtime: Partial<Runtime> = {
    random,
    after,
    async fetch(input, init) {
      const { method = 'GET' } = init ?? {}
      const { pathname, search } = new URL(String(input))
      asked.push(`${method} ${pathname}${search}`)
      const becomes = isAway ? 'cut' : fault(method, pathname)
      if (becomes === 'cut') throw new TypeError('cut')
      const answer = await houseFetch(input, init)
      if (becomes === 'lose') throw new TypeError('lost')
      return answer
    },
    async put(url, { headers, body, signal, progress }) {
      progress(0)
      const answer = await houseFetch(url, { method: 'PUT', headers, body, signal })
      progress(body.size)
      return answer.status
    },
    // No other tab.
    lock(_, run) {
      run()
      return () => {}
    },
    onWake(run) {
      wakers.add(run)
      return () => wakers.delete(run)
    },
    ...(webSocket && { webSocket: () => HouseSocket }),
  }
  return {
    runtime,
    open: () => ({ timers: timers.size, sockets: sockets.size, wakers: wakers.size }),
    opened: () => opened,
    asked,
    cut: () => {
      for (const { socket } of sockets) socket.terminate()
    },
    mute: () => {
      for (const each of sockets) each.isMute = true
    },
    setAway(is) {
      isAway = is
    },
    setFault(how) {
      fault = how
    },
    pass(milliseconds) {
      const due = [...watching].filter(([, watch]) => watch.milliseconds === milliseconds)
      for (const [own, { run }] of due) {
        watching.delete(own)
        timers.delete(own)
        run()
      }
      return due.length
    },
    wake: () => {
      for (const run of [...wakers]) run()
    },
  }
}
