import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { until } from '../../../tests/support/until.ts'
import type { PresenceSubscriber } from './announcer.ts'
import type { Session } from './session.ts'
import { createSubscriptions } from './subscriptions.ts'

describe('who hears of coming and going', () => {
  /** A device, what it was sent, and its subscriptions as the announcer has them. */
  function device() {
    const sent: string[] = []
    const heard = new Set<PresenceSubscriber>()
    const subscriptions = createSubscriptions({
      subscribe(subscriber) {
        heard.add(subscriber)
        return () => heard.delete(subscriber)
      },
      stop() {},
    })
    const send = (frame: Buffer) => void sent.push(String(frame))
    const room = Promise.withResolvers<boolean>()
    const state = { hasRoom: true }
    const line = { isOpen: () => true, hasRoom: () => state.hasRoom, room: () => room.promise, send, signal() {} }
    const makeRoom = () => {
      state.hasRoom = true
      room.resolve(true)
    }
    const session = { app: { id: 'app' }, caller: { uid: 'lin' }, line } as unknown as Session
    return { sent, heard, state, makeRoom, subscribe: subscriptions.subscribe.bind(undefined, session) }
  }

  it('misses none of it: a device that does not take it is let go instead', () => {
    const { sent, heard, subscribe } = device()
    subscribe({ mode: 'ALL_USERS' })
    for (const subscriber of heard) subscriber.send(Buffer.from('ada came'))
    assert.deepEqual(sent, ['ada came'])
  })

  it('is told in order to a device that has wished for something else meanwhile', async () => {
    const { sent, heard, state, makeRoom, subscribe } = device()
    const tell = (word: string) => {
      for (const subscriber of heard) subscriber.send(Buffer.from(word))
    }
    subscribe({ mode: 'ALL_USERS' })
    state.hasRoom = false
    tell('ada came')
    subscribe({ mode: 'FRIENDS' })
    makeRoom()
    tell('ada went')
    await until('all is sent', () => sent.length === 2)
    assert.deepEqual(sent, ['ada came', 'ada went'])
  })

  it('is asked for once, however often it is chosen, and not at all in the end', () => {
    const { heard, subscribe } = device()
    for (const mode of ['ALL_USERS', 'FRIENDS', 'ROLES'] as const) subscribe({ mode, roles: ['crew'] })
    assert.deepEqual(
      [...heard].map(({ mode, roles }) => [mode, ...roles]),
      [['ROLES', 'crew']],
    )
    subscribe({ mode: 'NONE' })
    assert.equal(heard.size, 0)
  })
})
