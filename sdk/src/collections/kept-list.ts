import { ParleyError, usageError } from '../http/errors.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { cell, type Readable } from '../store/cell.ts'
import { createRefresher } from './refresher.ts'
import type { Resting } from './resting.ts'

/**
 * A list that is fetched when somebody looks at it. What is heard of it only tells what to fetch again: all of it, or one
 * record. One thing is fetched at a time, so an answer is never older than what was heard before it was asked for.
 */

export interface ListState<Item> {
  readonly items: readonly Item[]
  readonly hasMore: boolean
  readonly status: 'idle' | 'loading' | 'ready' | 'failed'
  readonly error?: ParleyError
}

export interface KeptList<Item> extends Readable<ListState<Item>> {
  /** The next page; the first one, where there is none yet. */
  loadMore(): Promise<void>
}

/** Where the list comes from. */
export interface Listing<Item> {
  idOf(item: Item): string
  /** Pages count from 1; `before` is what was fetched already. */
  page(number: number, size: number, before: readonly Item[]): Promise<{ items: Item[]; hasMore: boolean }>
  one?(id: string): Promise<Item>
}

export interface Keeping<Item> {
  readonly list: KeptList<Item>
  has(id: string): boolean
  /** Something is another: one record, or whatever it is. */
  ask(id?: string): void
  change(make: (item: Item) => Item): void
  /** Fetches anew what is looked at, and drops the rest. */
  reload(): Promise<void>
  revive(): void
  drop(): void
}

export interface KeptListParts {
  runtime: Runtime
  isIn(): boolean
  restOf(drop: () => void): Resting
}

const pageSize = 50
const pageMax = 1_000
const whole = ''

export function createKeptList<Item>(listing: Listing<Item>, { runtime, isIn, restOf }: KeptListParts): Keeping<Item> {
  const { idOf, page, one } = listing
  const empty: ListState<Item> = { items: [], hasMore: false, status: 'idle' }
  const state = cell<ListState<Item>>(empty, { begins: wakeUp, ends: rest })
  const resting = restOf(drop)
  const refreshing = createRefresher((what) => inTurn(() => (what === whole ? loadFirst() : loadOne(what))), runtime)
  /** Counts up when everything is dropped: answers to what was asked before are for nobody. */
  let era = 0
  let turn: Promise<unknown> = Promise.resolve()
  /** What is changed while something is fetched, which may be older than the answer or newer. */
  let journal: ((item: Item) => Item)[] | undefined

  function show(more: Partial<ListState<Item>>): void {
    const { error: _, ...before } = state.get()
    state.set({ ...before, ...more, ...(more.items && { items: Object.freeze(more.items) }) })
  }

  function inTurn(load: () => Promise<Partial<ListState<Item>>>): Promise<void> {
    if (!isIn()) return Promise.reject(usageError('log in before anything is fetched'))
    const own = era
    const run = async () => {
      if (own !== era) return
      if (state.get().status !== 'ready') show({ status: 'loading' })
      journal = []
      try {
        const loaded = await load()
        if (own !== era) return
        show({ ...loaded, status: 'ready' })
        for (const make of journal ?? []) apply(make)
      } catch (caught) {
        const error = caught as ParleyError
        if (own === era) show({ ...(isRefused(error) && empty), status: 'failed', error })
        throw error
      } finally {
        if (own === era) journal = undefined
      }
    }
    const done = turn.then(run, run)
    turn = done.catch(() => {})
    return done
  }

  const pagesShown = () => state.get().items.length / pageSize

  /** From the beginning, as many as there were. */
  function loadFirst(): Promise<Partial<ListState<Item>>> {
    return page(1, Math.min(Math.max(1, Math.ceil(pagesShown())) * pageSize, pageMax), [])
  }

  /** Pages shift while members come and go: what is there already is passed over. */
  async function loadNext(): Promise<Partial<ListState<Item>>> {
    const { items, hasMore, status } = state.get()
    if (status !== 'ready') return loadFirst()
    if (!hasMore) return {}
    const next = await page(Math.floor(pagesShown()) + 1, pageSize, items)
    const known = new Set(items.map(idOf))
    return { items: [...items, ...next.items.filter((item) => !known.has(idOf(item)))], hasMore: next.hasMore }
  }

  /** Who is new stands first; who is not there any more is not to be found. */
  async function loadOne(id: string): Promise<Partial<ListState<Item>>> {
    const found = await one?.(id).catch((error) => {
      if (!isRefused(error)) throw error
    })
    const { items } = state.get()
    if (!found) return { items: items.filter((item) => idOf(item) !== id) }
    return { items: has(id) ? items.map((item) => (idOf(item) === id ? found : item)) : [found, ...items] }
  }

  const has = (id: string) => state.get().items.some((item) => idOf(item) === id)

  function ask(id = whole): void {
    const { status } = state.get()
    if (status !== 'idle') refreshing.ask(status === 'ready' && one ? id : whole)
  }

  function apply(make: (item: Item) => Item): void {
    const { items } = state.get()
    const next = items.map(make)
    if (next.some((item, n) => item !== items[n])) show({ items: next })
  }

  function wakeUp(): void {
    resting.callOff()
    if (state.get().status !== 'idle' || !isIn()) return
    // At once: whoever comes next, in the same moment, finds it under way.
    show({ status: 'loading' })
    refreshing.ask(whole)
  }

  function rest(): void {
    if (state.get().status !== 'idle') resting.begin()
  }

  function drop(): void {
    resting.callOff()
    era += 1
    journal = undefined
    refreshing.clear()
    turn = Promise.resolve()
    show(empty)
  }

  return {
    list: { get: state.get, subscribe: state.subscribe, loadMore: () => inTurn(loadNext) },
    has,
    ask,
    change(make) {
      journal?.push(make)
      apply(make)
    },
    async reload() {
      if (!state.isWatched()) return drop()
      await inTurn(loadFirst).catch((error) => {
        if (!isRefused(error)) throw error
      })
    },
    revive: refreshing.hurry,
    drop,
  }
}

const isRefused = (error: unknown) => ParleyError.is(error) && error.kind === 'refused'
