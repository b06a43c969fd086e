import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Started, startAll } from './started.ts'

/** Parts that say what is done with them; `failing` names those whose stop fails. */
function parts(...failing: string[]) {
  const said: string[] = []
  const start = (started: Started, ...names: string[]) => {
    for (const name of names) {
      said.push(`start ${name}`)
      started.add(async () => {
        said.push(`stop ${name}`)
        if (failing.includes(name)) throw new Error(`${name} cannot be stopped`)
      })
    }
  }
  return { said, start }
}

const all = ['start a', 'start b', 'start c', 'stop c', 'stop b', 'stop a']

describe('what is started', () => {
  it('is stopped in reverse, once, however often it is told to', async () => {
    const { said, start } = parts()
    const started = await startAll(async (started) => {
      start(started, 'a', 'b', 'c')
      return started
    })
    assert.deepEqual(said, all.slice(0, 3))
    await Promise.all([started.stop(), started.stop()])
    await started.stop()
    assert.deepEqual(said, all)
  })

  it('is stopped in reverse when a start in the middle fails, and the failure is that of the start', async () => {
    const { said, start } = parts('b')
    const starting = startAll(async (started) => {
      start(started, 'a', 'b', 'c')
      throw new Error('d cannot be started')
    })
    await assert.rejects(starting, /d cannot be started/)
    assert.deepEqual(said, all)
  })

  it('is stopped to the end when a part of it cannot be, and that is told', async () => {
    const { said, start } = parts('c')
    const started = await startAll(async (started) => {
      start(started, 'a', 'b', 'c')
      return started
    })
    await assert.rejects(started.stop(), /c cannot be stopped/)
    assert.deepEqual(said, all)
  })
})
