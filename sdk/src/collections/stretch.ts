import type { Message } from '../generated/records.ts'
import { ParleyError, usageError } from '../http/errors.ts'
import type { Cursor } from '../operation.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Frame } from '../socket/frame.ts'
import { cell, type Readable } from '../store/cell.ts'
import { isAfter } from './address.ts'
import { changedIn, hearOn } from './merge.ts'
import { ownPassage } from './passages.ts'
import { createRefresher } from './refresher.ts'
import type { Resting } from './resting.ts'
import type { Source } from './source.ts'

/** A stretch of messages without gaps, fetched once and kept current by what is heard. */

/** A message that the server has, or one that is on its way to it. */
export type MessageItem<Pending> =
  | { readonly key: string; readonly state: 'sent'; readonly message: Message }
  | { readonly key: string; readonly state: 'queued' | 'sending' | 'failed'; readonly pending: Pending }

export interface MessagesState<Pending> {
  /** Oldest first; what is on its way follows what has arrived. */
  readonly items: readonly MessageItem<Pending>[]
  /** Whether there may be older ones. */
  readonly hasOlder: boolean
  /** Whether the newest message is among them, and newer ones will come by themselves. */
  readonly atEnd: boolean
  readonly status: 'idle' | 'loading' | 'ready' | 'failed'
  /** Why they could not be fetched. */
  readonly error?: ParleyError
  /** `out`: the user may not, or no longer, read this. */
  readonly membership: 'in' | 'out'
}

export interface Messages<Pending> extends Readable<MessagesState<Pending>> {
  loadOlder(): Promise<void>
  loadNewer(): Promise<void>
  /** Shows what stands around a message. */
  jumpTo(id: string): Promise<void>
  jumpToEnd(): Promise<void>
}

export interface Stretch<Pending> {
  readonly messages: Messages<Pending>
  hear(frame: Frame): void
  /** A message that this device has sent. */
  put(message: Message): void
  setPending(items: readonly MessageItem<Pending>[]): void
  /** The newest message, while somebody looks at the end. */
  lastInView(): Message | undefined
  /** Fetches anew what is looked at, and drops the rest. */
  reload(): Promise<void>
  /** What could not be fetched may be there now. */
  revive(): void
  /** Nothing is known any more. */
  drop(): void
}

export interface StretchParts {
  source: Source
  runtime: Runtime
  me(): string
  /** Whether there is a user whose messages these are. */
  isIn(): boolean
  restOf(drop: () => void): Resting
  /** Something may be seen that was not before. */
  shown(): void
}

const pageSize = 50
const stretchMax = 300

export function createStretch<Pending>({
  source,
  runtime,
  me,
  isIn,
  restOf,
  shown: tell,
}: StretchParts): Stretch<Pending> {
  type State = MessagesState<Pending>
  const empty: State = { items: [], hasOlder: false, atEnd: true, status: 'idle', membership: 'in' }
  const state = cell<State>(empty, { begins: wakeUp, ends: rest })
  const shown = new WeakMap<Message, MessageItem<Pending>>()
  let known: Message[] = []
  let pending: readonly MessageItem<Pending>[] = []
  /** Of all that was fetched, also of what is not shown. */
  let oldest: string | undefined
  let newest: string | undefined
  let isLoaded = false
  /** What is heard while something is fetched, which may be older than the answer or newer. */
  let journal: Frame[] | undefined
  /** Counts up when everything is dropped: answers to what was asked before are for nobody. */
  let era = 0
  let turn: Promise<unknown> = Promise.resolve()
  const resting = restOf(drop)
  const loading = createRefresher(() => inTurn(loadEnd), runtime)
  const reloading = createRefresher(reload, runtime)
  const refreshing = createRefresher(refreshOne, runtime)
  let whileRefreshed: Frame[] | undefined

  function itemOf(message: Message): MessageItem<Pending> {
    const item = shown.get(message) ?? Object.freeze({ key: keyOf(message), state: 'sent' as const, message })
    shown.set(message, item)
    return item
  }

  const keyOf = ({ id, muid, sender }: Message) => (muid !== undefined && sender === me() ? muid : id)

  function show(more: Partial<State> = {}): void {
    const { error: _, ...before } = state.get()
    const arrived = new Set(known.map(keyOf))
    const waiting = before.atEnd || more.atEnd ? pending.filter(({ key }) => !arrived.has(key)) : []
    const items = Object.freeze([...known.map(itemOf), ...waiting])
    state.set({ ...before, ...more, items: isSame(items, before.items) ? before.items : items })
    tell()
  }

  /** One after the other. What fails is told to whoever asked, and shown. */
  function inTurn(load: () => Promise<void>): Promise<void> {
    if (!isIn()) return Promise.reject(usageError('log in before anything is fetched'))
    const own = era
    const run = async () => {
      if (own !== era) return
      journal = []
      show({ status: 'loading' })
      try {
        await load()
        if (own === era) settle()
      } catch (error) {
        if (own === era) fail(error as ParleyError)
        throw error
      }
    }
    const done = turn.then(run, run)
    turn = done.catch(() => {})
    return done
  }

  function settle(): void {
    const heard = journal ?? []
    journal = undefined
    isLoaded = true
    show({ status: 'ready', membership: 'in' })
    for (const frame of heard) apply(frame)
    show()
  }

  function fail(error: ParleyError): void {
    journal = undefined
    if (error.kind === 'refused') close(error)
    else show({ status: 'failed', error })
  }

  function close(error?: ParleyError): void {
    known = []
    isLoaded = false
    show({ status: 'ready', membership: 'out', atEnd: true, hasOlder: false, ...(error && { error }) })
  }

  /** A page that shows something, or the end: some messages only tell of changes to others. */
  async function page(affix: 'append' | 'prepend', from: string | undefined, limit = pageSize) {
    const found: Message[] = []
    let [first, last] = [from, from]
    for (;;) {
      const edge = affix === 'prepend' ? first : last
      const cursor: Cursor = { affix, ...(edge !== undefined && { id: edge }) }
      const raw = await source.page(cursor, limit)
      if (raw.length === 0) return { found, first, last, isEnd: true }
      if (affix === 'prepend' || first === undefined) first = raw[0]?.id
      if (affix === 'append' || last === undefined) last = raw[raw.length - 1]?.id
      found.push(...raw.filter(isShown))
      if (found.length > 0) return { found, first, last, isEnd: false }
    }
  }

  async function loadEnd(limit = pageSize): Promise<void> {
    const own = era
    const { found, first, last, isEnd } = await page('prepend', undefined, limit)
    if (own !== era) return
    known = found
    oldest = first
    newest = last
    show({ hasOlder: !isEnd, atEnd: true })
  }

  async function loadAround(id: string): Promise<void> {
    const own = era
    const [message, before, after] = await Promise.all([
      source.one(id).catch(unlessRefused),
      page('prepend', id, pageSize),
      page('append', id, pageSize),
    ])
    if (own !== era) return
    const middle = message && source.takes(message) && isShown(message) ? [message] : []
    known = [...before.found, ...middle, ...after.found]
    oldest = before.first
    newest = after.last
    show({ hasOlder: !before.isEnd, atEnd: after.isEnd })
  }

  async function loadOlder(): Promise<void> {
    if (!isLoaded) return loadEnd()
    if (!state.get().hasOlder) return
    const own = era
    const { found, first, isEnd } = await page('prepend', oldest)
    if (own !== era) return
    known = [...found, ...known]
    oldest = first
    const kept = known.slice(0, stretchMax)
    const isCut = kept.length < known.length
    if (isCut) newest = kept[kept.length - 1]?.id
    known = kept
    show({ hasOlder: !isEnd, ...(isCut && { atEnd: false }) })
  }

  async function loadNewer(): Promise<void> {
    if (!isLoaded) return loadEnd()
    if (state.get().atEnd) return
    const own = era
    const { found, last, isEnd } = await page('append', newest)
    if (own !== era) return
    known = [...known, ...found]
    newest = last
    trimOldest()
    show({ atEnd: isEnd })
  }

  function trimOldest(): void {
    if (known.length <= stretchMax) return
    known = known.slice(-stretchMax)
    oldest = known[0]?.id
    show({ hasOlder: true })
  }

  function hear(frame: Frame): void {
    journal?.push(frame)
    whileRefreshed?.push(frame)
    if (!isLoaded && !journal) {
      hearOfPassage(frame)
      return
    }
    apply(frame)
    show()
  }

  function apply(frame: Frame): void {
    if (hearOfPassage(frame)) return
    if (frame.type === 'messages') return void remove(frame.body.ids as string[])
    const message = frame.body as unknown as Message
    if (frame.type === 'message' && message.category !== 'action' && message.parentId) refresh(message.parentId)
    if (frame.type === 'receipts' && frame.sender === me()) refreshUnreadReplies()
    if (frame.type === 'message' && isShown(message)) return void insert(message)
    const changed = changedIn(frame)
    if (changed?.deletedAt !== undefined && isMissing(changed)) reloading.ask('all')
    known = known.map((each) => hearOn(each, frame, me()))
  }

  /** Whoever was removed sees nothing any more; whoever came in sees what there is. */
  function hearOfPassage(frame: Frame): boolean {
    const passage = ownPassage(frame, me())
    if (passage === 'out') close()
    if (passage !== 'in' || state.get().membership === 'in') return passage === 'out'
    show({ membership: 'in', status: 'idle' })
    if (state.isWatched()) loading.ask('end')
    return true
  }

  /** Whether it would stand here, without a gap, and does not. What was deleted before it could be told never came. */
  function isMissing(message: Message): boolean {
    if (!source.takes(message) || known.some(({ id }) => id === message.id)) return false
    const { atEnd, hasOlder } = state.get()
    const isBefore = oldest !== undefined && !isAfter(message.id, oldest)
    return !(isBefore && hasOlder) && (atEnd || !isBeyond(message))
  }

  const isBeyond = ({ id }: Message) => newest !== undefined && isAfter(id, newest)

  /** By its id, whenever it comes. */
  function insert(message: Message): void {
    if (!isMissing(message)) return
    const { atEnd } = state.get()
    const at = known.findIndex(({ id }) => isAfter(id, message.id))
    known = at === -1 ? [...known, message] : [...known.slice(0, at), message, ...known.slice(at)]
    if (isBeyond(message) || newest === undefined) newest = message.id
    oldest ??= message.id
    if (atEnd) trimOldest()
  }

  function remove(ids: string[]): void {
    known = known.filter(({ id }) => !ids.includes(id))
  }

  /** What a frame does not tell, such as how many replies there are, is fetched: once for all that was heard meanwhile. */
  function refresh(id: string): void {
    if (known.some((each) => each.id === id)) refreshing.ask(id)
  }

  /** Who has read something may have read replies to it. */
  function refreshUnreadReplies(): void {
    for (const { id, unreadRepliesCount = 0 } of known) if (unreadRepliesCount > 0) refreshing.ask(id)
  }

  async function refreshOne(id: string): Promise<void> {
    const own = era
    const heard: Frame[] = []
    whileRefreshed = heard
    const fetched = await source.one(id).finally(() => {
      if (own === era) whileRefreshed = undefined
    })
    if (own !== era) return
    const message = heard.reduce((so, frame) => hearOn(so, frame, me()), fetched)
    known = known.map((each) => (each.id === id ? message : each))
    show()
  }

  function wakeUp(): void {
    resting.callOff()
    if (state.get().status !== 'idle' || !isIn()) return void tell()
    // At once: whoever comes next, in the same moment, finds it under way.
    show({ status: 'loading' })
    loading.ask('end')
  }

  function rest(): void {
    resting.callOff()
    if (state.get().status !== 'idle') resting.begin()
  }

  function drop(): void {
    resting.callOff()
    era += 1
    known = []
    isLoaded = false
    journal = undefined
    oldest = undefined
    newest = undefined
    for (const each of [loading, reloading, refreshing]) each.clear()
    whileRefreshed = undefined
    turn = Promise.resolve()
    show(empty)
  }

  function revive(): void {
    for (const each of [loading, reloading, refreshing]) each.hurry()
  }

  async function reload(): Promise<void> {
    const { atEnd } = state.get()
    const anchor = known[Math.floor(known.length / 2)]?.id
    const count = known.length
    if (!state.isWatched()) return drop()
    try {
      if (atEnd || anchor === undefined) await inTurn(() => loadEnd(Math.max(pageSize, count)))
      else await inTurn(() => loadAround(anchor))
    } catch (error) {
      // Closed to the user; all others are for another time.
      if (!ParleyError.is(error) || error.kind !== 'refused') throw error
    }
  }

  return {
    messages: {
      get: state.get,
      subscribe: state.subscribe,
      loadOlder: () => inTurn(loadOlder),
      loadNewer: () => inTurn(loadNewer),
      jumpTo: (id) => inTurn(() => loadAround(id)),
      jumpToEnd: () => inTurn(loadEnd),
    },
    hear,
    put(message) {
      if (!isLoaded && !journal) return
      journal?.push({ type: 'message', body: message as never })
      insert(message)
      show()
    },
    setPending(items) {
      pending = items
      show()
    },
    lastInView() {
      const { atEnd, status } = state.get()
      return state.isWatched() && atEnd && status === 'ready' ? known[known.length - 1] : undefined
    },
    reload,
    revive,
    drop,
  }
}

/** A message that is not there any more, or was never to be seen here, has a place all the same. */
function unlessRefused(error: unknown): undefined {
  if (!ParleyError.is(error) || error.kind !== 'refused') throw error
}

/** Edits and deletions show on what they changed. */
const isShown = ({ category, type }: Message) => category !== 'action' || type !== 'message'

function isSame<Item>(items: readonly Item[], others: readonly Item[]): boolean {
  return items.length === others.length && items.every((item, n) => item === others[n])
}
