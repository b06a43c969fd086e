import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { laborious } from '../../../tests/support/laborious.ts'
import { until } from '../../../tests/support/until.ts'
import { createDelivery } from './delivery.ts'
import { createHearers } from './hearers.ts'
import { openPost } from './line.ts'
import type { Told } from './told.ts'

const many = 100

describe('what concerns very many devices', () => {
  it('is written to them in turns, in between which others have theirs', async () => {
    const post = openPost()
    const { work, end } = laborious(1)
    const written: number[] = []
    for (let n = 0; n < many; n += 1) {
      post.later({
        write() {
          work()
          written.push(n)
        },
        cut: () => assert.fail('it can be written to'),
      })
    }
    await until('all of it is written', () => written.length === many)
    const { mostInATurn } = await end()
    assert.deepEqual(
      written,
      Array.from({ length: many }, (_, n) => n),
    )
    assert.ok(mostInATurn <= many / 2, `${mostInATurn} were written in one turn`)
  })

  it('ends them in turns, too, where an app is gone', async () => {
    const hearers = createHearers()
    const { work, end } = laborious(1)
    let closed = 0
    const close = () => {
      work()
      closed += 1
    }
    for (let n = 0; n < many; n += 1) {
      const session = { caller: { uid: `u${n}` }, line: { close } }
      const nothing = { channels: [], shows: undefined, sightChanges: 0, held: [], leftMeanwhile: [] }
      hearers.add({ appId: 'a', uid: `u${n}`, sessions: new Set([session as never]), ...nothing })
    }
    const { deliver } = createDelivery(hearers, {} as never, (error) => assert.fail(String(error)))
    const nobody = { channels: [], joins: [], leaves: [], sights: [] }
    deliver({ appId: 'a', ends: { uid: undefined, tokenFingerprint: undefined }, ...nobody } as unknown as Told)
    await until('all of them are closed', () => closed === many)
    const { mostInATurn } = await end()
    assert.ok(mostInATurn <= many / 2, `${mostInATurn} were closed in one turn`)
  })
})
