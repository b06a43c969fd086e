import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { usualRuntime } from '../../sdk/src/runtime/runtime.ts'
import { until } from '../support/until.ts'

/** What the client asks of pages, on pages that are made up. */

type Held = () => Promise<void>

/** As those of browsers: one after the other, each until its promise is over. */
function locks(isForbidden = false) {
  let last: Promise<unknown> = Promise.resolve()
  return {
    async request(_: string, { signal }: { signal: AbortSignal }, run: Held): Promise<void> {
      if (isForbidden) throw new Error('SecurityError')
      const turn = last
      const own = turn.then(() => {
        if (signal.aborted) throw new Error('AbortError')
        return run()
      })
      last = own.catch(() => {})
      await own
    },
  }
}

describe('the runtime of the SDK on a page', () => {
  const before = new Map<string, PropertyDescriptor | undefined>()

  function put(name: string, value: unknown): void {
    if (!before.has(name)) before.set(name, Object.getOwnPropertyDescriptor(globalThis, name))
    Object.defineProperty(globalThis, name, { value, configurable: true })
  }

  afterEach(() => {
    for (const [name, descriptor] of before) {
      Reflect.deleteProperty(globalThis, name)
      if (descriptor) Object.defineProperty(globalThis, name, descriptor)
    }
    before.clear()
  })

  it('has a name for one tab at a time', async () => {
    put('navigator', { locks: locks() })
    const holders: string[] = []
    const hold = (tab: string) => usualRuntime.lock('name', () => holders.push(tab))
    const [letGoFirst, giveUp] = [hold('first'), hold('second')]
    const letGoThird = hold('third')
    await until('one has it', () => holders.length === 1)
    giveUp()
    letGoFirst()
    await until('the next has it', () => holders.length === 2)
    assert.deepEqual(holders, ['first', 'third'])
    letGoThird()
  })

  it('does without locks where there are none, or they are forbidden', async () => {
    let runs = 0
    const run = () => {
      runs += 1
    }
    put('navigator', undefined)
    usualRuntime.lock('name', run)()
    assert.equal(runs, 1)
    put('navigator', { locks: locks(true) })
    const letGo = usualRuntime.lock('name', run)
    await until('it runs all the same', () => runs === 2)
    letGo()
  })

  it('is seen while it is visible and has the focus', () => {
    assert.equal(usualRuntime.isSeen(), true)
    for (const [visibilityState, hasFocus, isSeen] of [
      ['visible', true, true],
      ['visible', false, false],
      ['hidden', true, false],
    ] as const) {
      put('document', { visibilityState, hasFocus: () => hasFocus })
      assert.equal(usualRuntime.isSeen(), isSeen)
    }
  })

  it('wakes with every sign that its connection may be another one, or gone', () => {
    const [page, document] = [new EventTarget(), Object.assign(new EventTarget(), { visibilityState: 'hidden' })]
    put('document', document)
    put('addEventListener', page.addEventListener.bind(page))
    put('removeEventListener', page.removeEventListener.bind(page))
    let wakes = 0
    const stop = usualRuntime.onWake(() => {
      wakes += 1
    })
    for (const sign of ['online', 'offline', 'pageshow', 'focus']) page.dispatchEvent(new Event(sign))
    assert.equal(wakes, 4)
    document.dispatchEvent(new Event('visibilitychange'))
    assert.equal(wakes, 4)
    document.visibilityState = 'visible'
    document.dispatchEvent(new Event('visibilitychange'))
    assert.equal(wakes, 5)
    stop()
    for (const sign of ['online', 'offline']) page.dispatchEvent(new Event(sign))
    assert.equal(wakes, 5)
  })
})
