/**
 * Everything that is asked of the place where the SDK runs: browsers, Node, React Native. No other file touches a global, so
 * whoever runs it elsewhere, or tests it, passes a runtime of their own.
 */
export interface Runtime {
  fetch: typeof fetch
  /** Runs something later; answers how to call it off. */
  after(milliseconds: number, run: () => void): () => void
  /** At least 0, less than 1. */
  random(): number
  /** Another one each time, on whatever machine. */
  randomId(): string
  abortController(): AbortController
  form(): FormData
  /** Milliseconds of a clock that nobody sets. */
  now(): number
  /** Milliseconds of the clock on the wall: of use where time goes on while nothing runs here, and never for an order. */
  wallClock(): number
  /** Whether somebody may be looking. */
  isSeen(): boolean
  /** Runs something when no other tab has this name, and keeps the name; answers how to let go of it. */
  lock(name: string, run: () => void): () => void
  /** The class of WebSockets, such as that of browsers, or of the package `ws`. */
  webSocket(): WebSocketClass
  /** Sends a file, tells how much of it has gone, from the beginning on and where that is known, and answers the status. */
  put(url: string, sending: Putting): Promise<number>
  /** Tells when the place wakes: a page is looked at again, a network is there again or has gone. Answers how to stop that. */
  onWake(run: () => void): () => void
}

export interface Putting {
  headers: Record<string, string>
  body: Blob
  signal: AbortSignal
  progress(loaded: number): void
}

export type WebSocketClass = new (url: string) => LiveSocket

/** What is used of a WebSocket. */
export interface LiveSocket {
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: object) => void): void
  send(text: string): void
  close(): void
}

/** The globals are looked up when they are used: making a client does nothing, also where there are none. */
export const usualRuntime: Runtime = {
  fetch: (input, init) => fetch(input, init),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds)
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
  randomId,
  abortController: () => new AbortController(),
  form: () => new FormData(),
  now: () => performance.now(),
  wallClock: () => Date.now(),
  isSeen,
  lock,
  webSocket() {
    if (typeof WebSocket !== 'undefined') return WebSocket
    throw new Error('There is no WebSocket here. Node has one from version 22 on; before, pass that of the package ws.')
  },
  put: (url, sending) => (typeof XMLHttpRequest === 'undefined' ? putByFetch : putByRequest)(url, sending),
  onWake,
}

/** `fetch` does not tell how much has gone. */
async function putByFetch(url: string, { headers, body, signal }: Putting): Promise<number> {
  return (await fetch(url, { method: 'PUT', headers, body, signal, redirect: 'error' })).status
}

function putByRequest(url: string, { headers, body, signal, progress }: Putting): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const abort = () => request.abort()
    const fail = () => reject(new Error('The connection was lost, or given up.'))
    request.open('PUT', url)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded }) => progress(loaded)
    request.onload = () => resolve(request.status)
    request.onerror = fail
    request.onabort = fail
    request.onloadend = () => signal.removeEventListener('abort', abort)
    signal.addEventListener('abort', abort)
    progress(0)
    request.send(body)
  })
}

/** What is used of browsers alone. */
declare const XMLHttpRequest: new () => {
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  send(body: Blob): void
  abort(): void
  status: number
  upload: { onprogress: (event: { loaded: number }) => void }
  onload: () => void
  onerror: () => void
  onabort: () => void
  onloadend: () => void
}

/** What is used of a page. */
interface Target {
  addEventListener(type: string, run: () => void): void
  removeEventListener(type: string, run: () => void): void
}
type Page = Target & {
  document?: Target & { visibilityState: string; hasFocus(): boolean }
  navigator?: {
    locks?: { request(name: string, how: { signal: AbortSignal }, run: () => Promise<void>): Promise<void> }
  }
}

const place = () => globalThis as unknown as Page

/** Where there are no pages, whoever runs it sees to that. */
function isSeen(): boolean {
  const { document } = place()
  return !document || (document.visibilityState === 'visible' && document.hasFocus())
}

/** Where there are no locks, there are no tabs, or nobody can tell: then it runs, as what is done twice under one name is done once. */
function lock(name: string, run: () => void): () => void {
  const { locks } = place().navigator ?? {}
  if (!locks) {
    run()
    return () => {}
  }
  const waiting = new AbortController()
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const hold = () => {
    run()
    return held
  }
  // Given up, or forbidden here.
  locks.request(name, { signal: waiting.signal }, hold).catch(() => {
    if (!waiting.signal.aborted) run()
  })
  return () => {
    waiting.abort()
    letGo()
  }
}

/** Pages, and nothing else, go to sleep. */
function onWake(run: () => void): () => void {
  const page = place()
  const { document } = page
  if (!document?.addEventListener || !page.addEventListener) return () => {}
  const look = () => {
    if (document.visibilityState === 'visible') run()
  }
  // Who says that the network has gone may be changing to another one: either way the connection may be lost by now.
  const signs = ['online', 'offline', 'pageshow', 'focus']
  for (const sign of signs) page.addEventListener(sign, run)
  document.addEventListener('visibilitychange', look)
  return () => {
    for (const sign of signs) page.removeEventListener(sign, run)
    document.removeEventListener('visibilitychange', look)
  }
}

/** `crypto.randomUUID` is kept from pages that came over plain HTTP; random bytes are not. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
