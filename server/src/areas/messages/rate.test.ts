import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it, mock } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { nothingChanges } from '../../../../tests/support/dump.ts'
import {
  type AppClient,
  assertFails,
  assertSucceeds,
  type Caller,
  type House,
  house,
} from '../../../../tests/support/house.ts'
import type { Answer } from '../../../../tests/support/http.ts'
import { appWith, as, clientOf } from '../../../../tests/support/talk.ts'
import { form, formType, stream } from '../../../../tests/support/uploads.ts'
import { systemClock } from '../../adapters/clock/system.ts'

const limit = 6
const windowSeconds = 60

for (const database of databases) {
  describe(`messages a minute on ${database}`, () => {
    let h: House
    let app: AppClient
    let lin: Caller
    // Windows are whole minutes of real time; a still clock makes each test begin in a fresh one.
    let now = Math.ceil(Date.now() / 1000 / windowSeconds) * windowSeconds

    before(async () => {
      mock.timers.enable({ apis: ['Date'], now: now * 1000 })
      const environment = { PARLEY_LIMIT_MESSAGES: String(limit), PARLEY_LIMIT_UNREAD: '2' }
      h = await house({ database, environment, clock: systemClock() })
      app = await appWith(h, 'lin', 'max', ...receivers)
      lin = await clientOf(h, app, 'lin')
      assertSucceeds(await app.post('/users/r9/blockedusers', { blockedUids: ['lin'] }))
    })
    beforeEach(() => {
      now += windowSeconds
      mock.timers.setTime(now * 1000)
    })
    after(async () => {
      await h.close()
      mock.timers.reset()
    })

    const receivers = Array.from({ length: 10 }, (_, n) => `r${n}`)
    const hello = { receiver: 'r0', receiverType: 'user', data: { text: 'Hello' } }
    const toMany = (uids: string[], guids?: string[]) => ({
      data: hello.data,
      multipleReceivers: { uids, ...(guids && { guids }) },
    })
    const outcomesOf = (answer: Answer) =>
      Object.fromEntries(
        Object.entries<{ success: boolean; error?: { code: string } }>(assertSucceeds(answer).data.uids).map(
          ([uid, { error }]) => [uid, error?.code ?? 'sent'],
        ),
      )
    const sentNow = async () =>
      assertSucceeds(await app.get(`/messages?limit=100&affix=append&sentAt=${now - 1}`)).data.length
    const assertUsedUp = (answer: Answer) => {
      assertFails(answer, 429, 'ERR_TOO_MANY_REQUESTS')
      const names = ['x-rate-limit', 'x-rate-limit-remaining', 'x-rate-limit-reset', 'retry-after']
      const told = [limit, 0, now + windowSeconds, windowSeconds].map(String)
      assert.deepEqual(
        names.map((name) => answer.headers[name]),
        told,
      )
    }

    it('are counted by those who receive them', async () => {
      h.clock.setOffset(0)
      const outcomes = outcomesOf(await lin.post('/messages', toMany(receivers.slice(0, 9))))
      const expected = receivers.slice(0, 9).map((uid, n) => [uid, n < limit ? 'sent' : 'ERR_TOO_MANY_REQUESTS'])
      assert.deepEqual(outcomes, Object.fromEntries(expected))
      assert.equal(await sentNow(), limit)
      assertUsedUp(await lin.post('/messages', hello))
      assertUsedUp(await lin.post('/messages', toMany(['r1', 'r2'])))
      assert.equal(await sentNow(), limit)
    })

    it('leave out receivers who get none', async () => {
      const outcomes = outcomesOf(await lin.post('/messages', toMany(['nobody', 'r9', 'R1', 'r1', 'r2'])))
      assert.deepEqual(outcomes, {
        nobody: 'ERR_UID_NOT_FOUND',
        r9: 'ERR_BLOCKED_SENDER',
        r1: 'sent',
        r2: 'sent',
      })
      for (let n = 2; n < limit; n += 1) assertSucceeds(await lin.post('/messages', hello))
      assertUsedUp(await lin.post('/messages', hello))
    })

    it('are not used up by what is refused', async () => {
      const refused = async () => [
        await lin.send('/messages', { method: 'POST', raw: '{' }),
        await lin.send('/messages', { method: 'POST', raw: 'x'.repeat(300_000) }),
        await lin.post('/messages', {}),
        await lin.post('/messages', { ...hello, receiver: 'nobody' }),
        await lin.post('/messages', { ...hello, receiver: 'r9' }),
        await lin.post('/messages', { ...hello, data: { text: '' } }),
        await lin.post('/messages', toMany([])),
        await lin.post('/messages', toMany(Array.from({ length: 101 }, (_, n) => `u${n}`))),
        await lin.post('/messages', { ...hello, multipleReceivers: 7 }),
        await lin.post('/messages', { ...hello, multipleReceivers: { uids: [[['x']], {}, 4] } }),
        await lin.post('/messages/999999/thread', hello),
        await app.post('/messages', { ...hello, type: 'unheard-of' }, as('lin')),
      ]
      for (let n = 0; n < 2; n += 1) {
        for (const { status, text } of await refused()) assert.ok(status >= 400 && status < 429, text)
      }
      for (let n = 0; n < limit; n += 1) assertSucceeds(await lin.post('/messages', hello))
      assertUsedUp(await lin.post('/messages', hello))
    })

    it('are not used up by what is repeated', async () => {
      const key = { 'Idempotency-Key': `repeated ${now}` }
      for (let n = 0; n < limit; n += 1) {
        assertSucceeds(await lin.post('/messages', { ...hello, muid: `muid ${now}` }))
        assertSucceeds(await lin.post('/messages', hello, key))
      }
      assert.equal(await sentNow(), 2)
    })

    it('are one number for a user, whoever sends for them and however', async () => {
      const { data } = assertSucceeds(await lin.post('/messages', hello))
      assertSucceeds(await app.post('/messages', hello, as('lin')))
      assertSucceeds(await app.post('/messages', hello, as('LIN')))
      assertSucceeds(await lin.post(`/messages/${data.id}/thread`, { data: hello.data }))
      outcomesOf(await app.post('/messages', toMany(['r1', 'r2']), as('lin')))
      assertUsedUp(await lin.post('/messages', hello))
      assertUsedUp(await app.post('/messages', hello, as('lin')))
      assertUsedUp(await lin.post(`/messages/${data.id}/thread`, { data: hello.data }))
      assertSucceeds(await app.post('/messages', hello, as('max')))
      const byApp = outcomesOf(await app.post('/messages', toMany(receivers)))
      assert.deepEqual([...new Set(Object.values(byApp))], ['sent'])
    })

    it('are exact under parallel requests', async () => {
      const answers = await Promise.all(
        Array.from({ length: limit }, () => [
          lin.post('/messages', hello),
          lin.post('/messages', toMany(['r1', 'r2'])),
        ]).flat(),
      )
      for (const { status, text } of answers) assert.ok([200, 429].includes(status), text)
      assert.equal(await sentNow(), limit)
    })

    it('refuse whoever has none left before the body is read', async () => {
      assertSucceeds(await lin.post('/messages', toMany(receivers.slice(0, limit))))
      const assertUnchanged = await nothingChanges(h)
      const body = form(
        { field: 'receiver', content: 'r0' },
        { field: 'receiverType', content: 'user' },
        { field: 'file', content: 'bytes', filename: 'a.txt', type: 'text/plain' },
      )
      const headers = { apikey: app.apiKey, onBehalfOf: 'lin', 'content-type': formType }
      const url = `https://${app.host}/v3/messages`
      const { status } = await stream(h, url, { method: 'POST', headers, pieces: [body] })
      assert.equal(status, 429)
      assertUsedUp(await lin.send('/messages', { method: 'POST', raw: '{' }))
      await assertUnchanged('what was refused')
    })

    it('tell of the app’s allowance while there are some left', async () => {
      const { headers } = await lin.post('/messages', hello)
      assert.equal(headers['x-rate-limit'], '20000')
    })

    it('and marks as unread: what is refused uses up none of them', async () => {
      const { data } = assertSucceeds(await lin.post('/messages', hello))
      const unread = (messageId: string) => app.delete('/users/lin/conversation/read', { messageId }, as('r0'))
      for (let n = 0; n < 3; n += 1) assertFails(await unread('999999'), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
      for (let n = 0; n < 2; n += 1) assertSucceeds(await unread(data.id))
      assertFails(await unread(data.id), 429, 'ERR_TOO_MANY_REQUESTS')
    })
  })
}
