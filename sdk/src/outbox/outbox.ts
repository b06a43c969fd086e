import { type SendMessageInput, sendMessage } from '../generated/operations.ts'
import type { Message } from '../generated/records.ts'
import type { UserCall } from '../http/call.ts'
import { abortedError, ParleyError, usageError } from '../http/errors.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { cell, type Readable } from '../store/cell.ts'
import type { Shelf } from '../store/shelf.ts'
import { type KeptEntry, keptIn } from './kept.ts'

/**
 * Messages on their way. Each has a `muid` of its own under which the server takes it once, so it is sent until there is an
 * answer: no answer is no refusal. What is for one conversation goes one after the other; no lane waits for another.
 */

export interface SentState {
  /** The same before and after it has arrived, also as the key of its item. */
  readonly key: string
  readonly state: 'queued' | 'sending' | 'sent' | 'failed'
  /** Why it was refused, or what it waits for. */
  readonly error?: ParleyError
}

export interface Sent extends Readable<SentState> {
  /** The message as the server has it; rejects when it is refused or discarded. */
  readonly done: Promise<Message>
}

export interface OutboxEntry {
  readonly key: string
  /** Which conversation it is for. */
  readonly lane: string
  readonly input: SendMessageInput
  readonly state: 'queued' | 'sending' | 'failed'
  readonly error?: ParleyError
  /** Tries again what has failed, and its files, as far as they have. */
  retry(): void
  /** Gives up what has failed, or is not being sent yet. */
  discard(): void
}

export interface Outbox {
  readonly entries: Readable<readonly OutboxEntry[]>
  /** With uploads, it goes when they are done, and keeps its place until then. */
  send(lane: string, input: Omit<SendMessageInput, 'muid'>, uploads?: readonly Underway[]): Sent
  /** It has arrived, as is heard before it is answered. */
  arrived(muid: string, message: Message): void
  /** Whether this device has sent it. */
  isOwn(muid: string | undefined): boolean
  /** There may be a way to the server now. */
  hurry(): void
  /** From now on texts are kept here as well, and what was left here is sent; by one of several tabs. */
  keepOn(shelf: Shelf): void
  /** Gives up everything; what is kept stays for the next time, unless it is forgotten. */
  clear(isForgotten: boolean): void
}

/** A file that is on its way by itself. */
interface Underway {
  readonly done: Promise<unknown>
  /** Begins anew, if it has failed. */
  retry(): void
}

interface Entry {
  key: string
  lane: string
  input: SendMessageInput
  uploads: readonly Underway[]
  /** By the clock on the wall, which goes on while nothing runs here. */
  since: number
  sent: ReturnType<typeof cell<SentState>>
  shown: OutboxEntry
  resolve(message: Message): void
  reject(error: ParleyError): void
}

export interface OutboxParts {
  request: UserCall
  runtime: Runtime
  /** A message was taken, before anybody else hears of it. */
  taken(message: Message): void
  /** Other entries, or other states of them. */
  changed(entries: readonly OutboxEntry[]): void
  /** Something waits to be sent. */
  wanting(): void
}

const entriesMax = 200
// Who has written something so long ago may not want it said any more.
const waitsMs = 24 * 60 * 60_000
// What is heard of them comes soon after they were sent.
const ownMax = 1_000
const firstWaitMs = 1_000
const longestWaitMs = 30_000

export function createOutbox({ request, runtime, taken, changed, wanting }: OutboxParts): Outbox {
  const all = new Map<string, Entry>()
  const entries = cell<readonly OutboxEntry[]>([])
  const busy = new Set<string>()
  /** Lanes that wait to try again; what the server asked for is waited for. */
  const waiting = new Map<string, { mayBeCut: boolean; end(): void }>()
  const own = new Set<string>()
  let era = 0
  let shelf: Shelf | undefined
  let letGo = () => {}

  function show(): void {
    entries.set([...all.values()].map(({ shown }) => shown))
    changed(entries.get())
  }

  /** What other tabs keep stays as it is. */
  function save(): void {
    if (!shelf) return
    const others = keptIn(shelf.read()).filter(({ input }) => !own.has(input.muid))
    const kept = [...others, ...[...all.values()].filter(isText).map(keptOf)].slice(0, entriesMax)
    if (kept.length > 0) shelf.write(kept)
    else shelf.clear()
  }

  function adopt(): void {
    const left = keptIn(shelf?.read()).filter(({ input }) => !own.has(input.muid))
    const adopted = left.slice(0, entriesMax - all.size).map(entryOf)
    const later = [...all]
    all.clear()
    for (const entry of adopted) {
      all.set(entry.key, entry)
      remember(entry.key)
    }
    for (const [key, entry] of later) all.set(key, entry)
    if (adopted.length > 0) show()
    for (const { lane } of adopted) void drain(lane)
  }

  function entryOf({ lane, input, since, error }: KeptEntry): Entry {
    const { entry } = entryFor(input.muid, lane, input, [], since)
    if (error) set(entry, 'failed', new ParleyError(error))
    return entry
  }

  function move(entry: Entry, state: 'queued' | 'sending' | 'failed', error?: ParleyError): void {
    const isKeptOtherwise = (state === 'failed') !== (entry.shown.state === 'failed')
    set(entry, state, error)
    show()
    if (isKeptOtherwise) save()
  }

  function set(entry: Entry, state: 'queued' | 'sending' | 'failed', error?: ParleyError): void {
    const { key } = entry
    const now = { key, state, ...(error && { error }) }
    const { error: _, ...before } = entry.shown
    entry.sent.set(now)
    entry.shown = Object.freeze({ ...before, ...now })
  }

  function send(lane: string, content: Omit<SendMessageInput, 'muid'>, uploads: readonly Underway[] = []): Sent {
    if (all.size >= entriesMax)
      throw usageError(`${entriesMax} messages are waiting to be sent; there is no room for more`)
    const key = runtime.randomId()
    const { entry, handle } = entryFor(key, lane, { ...content, muid: key }, uploads, runtime.wallClock())
    all.set(key, entry)
    remember(key)
    show()
    save()
    void drain(lane)
    wanting()
    return handle
  }

  function entryFor(
    key: string,
    lane: string,
    input: SendMessageInput,
    uploads: readonly Underway[],
    since: number,
  ): { entry: Entry; handle: Sent } {
    const sent = cell<SentState>({ key, state: 'queued' })
    let resolve: Entry['resolve'] = () => {}
    let reject: Entry['reject'] = () => {}
    const done = new Promise<Message>((yes, no) => {
      resolve = yes
      reject = no
    })
    // Whoever does not wait for it looks at its state.
    done.catch(() => {})
    const shown: OutboxEntry = Object.freeze({
      ...{ key, lane, input, state: 'queued' as const },
      retry: () => retry(key),
      discard: () => discard(key),
    })
    return {
      entry: { key, lane, input, uploads, since, sent, shown, resolve, reject },
      handle: { get: sent.get, subscribe: sent.subscribe, done },
    }
  }

  function remember(key: string): void {
    own.add(key)
    if (own.size <= ownMax) return
    for (const oldest of own) {
      own.delete(oldest)
      return
    }
  }

  async function drain(lane: string): Promise<void> {
    if (busy.has(lane)) return
    busy.add(lane)
    const begun = era
    let tried = 0
    for (let entry = nextIn(lane); entry && begun === era; entry = nextIn(lane)) {
      const outcome = await attempt(entry)
      if (begun !== era) return
      if (outcome === 'settled') {
        tried = 0
        continue
      }
      await pause(lane, tried, outcome.retryAfterMs)
      tried += 1
    }
    if (begun === era) busy.delete(lane)
  }

  const nextIn = (lane: string) =>
    [...all.values()].find((entry) => entry.lane === lane && entry.shown.state !== 'failed')

  async function attempt(entry: Entry): Promise<'settled' | ParleyError> {
    const begun = era
    try {
      requireRecent(entry)
      move(entry, 'sending')
      const message = await request(sendMessage, await completed(entry), { retries: 0 })
      if (begun === era) arrived(entry.key, message as Message)
      return 'settled'
    } catch (error) {
      // Heard of, though the answer was lost; or given up.
      if (begun !== era || !all.has(entry.key)) return 'settled'
      const known = error as ParleyError
      const isRefused = !isWorthAnother(known)
      move(entry, isRefused ? 'failed' : 'queued', known)
      if (isRefused) entry.reject(known)
      return isRefused ? 'settled' : known
    }
  }

  function pause(lane: string, tried: number, atLeast = 0): Promise<void> {
    const bound = Math.min(firstWaitMs * 2 ** tried, longestWaitMs)
    return new Promise((resolve) => {
      const end = () => {
        callOff()
        waiting.delete(lane)
        resolve()
      }
      const callOff = runtime.after(atLeast + runtime.random() * bound, end)
      waiting.set(lane, { mayBeCut: atLeast === 0, end })
    })
  }

  function arrived(key: string, message: Message): void {
    const entry = all.get(key)
    if (!entry) return
    all.delete(key)
    taken(message)
    entry.sent.set({ key, state: 'sent' })
    entry.resolve(message)
    show()
    save()
  }

  function retry(key: string): void {
    const entry = all.get(key)
    if (entry?.shown.state !== 'failed') return
    entry.since = runtime.wallClock()
    for (const upload of entry.uploads) upload.retry()
    move(entry, 'queued')
    void drain(entry.lane)
    wanting()
  }

  function discard(key: string): void {
    const entry = all.get(key)
    if (!entry || entry.shown.state === 'sending') return
    all.delete(key)
    entry.sent.set({ key, state: 'failed', error: abortedError() })
    entry.reject(abortedError())
    show()
    save()
  }

  /** Clocks are set by a little all the time; where one was set by more than a day, who taps it means it. */
  function requireRecent({ since }: Entry): void {
    if (Math.abs(runtime.wallClock() - since) < waitsMs) return
    const message = 'This has waited for more than a day, and is sent when it is asked for again.'
    throw new ParleyError({ code: 'ERR_TIMEOUT', kind: 'refused', message })
  }

  return {
    entries,
    send,
    arrived,
    isOwn: (muid) => muid !== undefined && own.has(muid),
    hurry() {
      for (const { mayBeCut, end } of [...waiting.values()]) if (mayBeCut) end()
    },
    keepOn(next) {
      if (shelf?.name === next.name) return
      letGo()
      shelf = next
      save()
      letGo = runtime.lock(next.name, adopt)
    },
    clear(isForgotten) {
      letGo()
      letGo = () => {}
      if (isForgotten) shelf?.clear()
      shelf = undefined
      era += 1
      for (const { end } of [...waiting.values()]) end()
      busy.clear()
      const left = [...all.values()]
      all.clear()
      own.clear()
      for (const entry of left) {
        entry.sent.set({ key: entry.key, state: 'failed', error: abortedError() })
        entry.reject(abortedError())
      }
      show()
    },
  }
}

/** Files cannot be kept. */
const isText = ({ input, uploads }: Entry) => input.files === undefined && uploads.length === 0

function keptOf({ lane, input, key, since, shown: { state, error } }: Entry): KeptEntry {
  const failed = state === 'failed' && error
  const why = failed ? { error: { code: failed.code, kind: failed.kind, message: failed.message } } : {}
  return { lane, input: { ...input, muid: key }, since, ...why }
}

/** A token that is refused may be followed by another one; all other refusals are final. */
function isWorthAnother({ kind, code }: ParleyError): boolean {
  return ['network', 'rate', 'server'].includes(kind) || code === 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND'
}

/** What is sent in the end. Uploads have tried what they could: without them there is no message. */
async function completed({ input, uploads }: Entry): Promise<SendMessageInput> {
  if (uploads.length === 0) return input
  try {
    const attachments = await Promise.all(uploads.map(({ done }) => done))
    return { ...input, data: { ...input.data, attachments } }
  } catch (error) {
    const { code, message } = error as ParleyError
    throw new ParleyError({ code, message, kind: 'refused', cause: error })
  }
}
