import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
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
    const line = { isOpen: () => true, hasRoom: () => true, send, signal() {} }
    const session = { app: { id: 'app' }, caller: { uid: 'lin' }, line } as unknown as Session
    return { sent, heard, subscribe: subscriptions.subscribe.bind(undefined, session) }
  }

  it('misses none of it: a device that does not take it is let go instead', () => {
    const { sent, heard, subscribe } = device()
    subscribe({ mode: 'ALL_USERS' })
    for (const subscriber of heard) subscriber.send(Buffer.from('ada came'))
    assert.deepEqual(sent, ['ada came'])
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
