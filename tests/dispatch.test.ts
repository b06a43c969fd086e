import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it, mock } from 'node:test'
import { messageRate } from '../server/src/areas/messages/index.ts'
import { one } from '../server/src/common/reply.ts'
import type { Ask } from '../server/src/dispatch/dispatch.ts'
import type { Trace } from '../server/src/dispatch/trace.ts'
import { area } from '../server/src/kit/area.ts'
import { type ApiError, badRequest } from '../server/src/kit/errors.ts'
import type { Caller } from '../server/src/kit/operation.ts'
import { operation } from '../server/src/kit/operation.ts'
import { Type } from '../server/src/kit/schema.ts'
import { databases } from './support/databases.ts'
import { dispatchClient, newTrace } from './support/dispatched.ts'
import { nothingChanges } from './support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, callerAt, type House, house } from './support/house.ts'
import { appWith, as, say } from './support/talk.ts'
import { type Logged, logOf } from './support/told.ts'

/** Operations are run by one function, whoever calls: what holds for requests holds for callers that send none. */

const requestsMax = 12
const messagesMax = 4
const windowSeconds = 60

let ran = 0

/** Open to servers and to the server's own parts; says who called, and how often it ran. */
const probe = operation({
  id: 'probe',
  route: 'POST /probe',
  summary: 'Says who calls',
  doors: ['server', 'system'],
  onBehalfOf: 'optional',
  body: Type.Object({ word: Type.Optional(Type.String()) }),
  reply: one(Type.Object({ caller: Type.String(), actor: Type.String(), ran: Type.Integer() })),
  async run({ caller, actor }) {
    ran += 1
    return { data: { caller: caller.kind, actor: actor?.uid ?? '', ran } }
  },
})

/** The same, and counted for whoever acts. */
const counted = operation({
  ...{ id: 'countedProbe', route: 'POST /counted-probe', summary: 'Counts', onBehalfOf: 'required' },
  doors: ['server', 'system'],
  userRate: messageRate,
  reply: one(Type.Object({ isCounted: Type.Boolean() })),
  run: async ({ portion }) => ({ data: { isCounted: portion !== undefined } }),
})

const probes = area({ name: 'probes', about: 'For this test.', operations: [probe, counted] })

const media: Caller = { kind: 'system', part: 'media' }
const jobs: Caller = { kind: 'system', part: 'jobs' }

for (const database of databases) {
  describe(`dispatch on ${database}`, () => {
    let h: House
    let app: AppClient
    // Windows are whole minutes of real time; a still clock makes each test begin in a fresh one.
    let now = Math.ceil(Date.now() / 1000 / windowSeconds) * windowSeconds

    before(async () => {
      mock.timers.enable({ apis: ['Date'], now: now * 1000 })
      const environment = { PARLEY_LIMIT_STANDARD: String(requestsMax), PARLEY_LIMIT_MESSAGES: String(messagesMax) }
      h = await house({ database, environment, areas: [probes] })
      app = await appWith(h, 'ada', 'lin')
    })
    beforeEach(() => {
      now += windowSeconds
      mock.timers.setTime(now * 1000)
    })
    after(async () => {
      await h.close()
      mock.timers.reset()
    })

    /** Asks as an app's server, unless another caller is given. */
    async function ask(id: string, body: object = {}, more: Partial<Ask> = {}, trace: Trace = newTrace()) {
      const { doors, dispatch, registry } = h.service
      const known = await doors.app({ appId: app.id, region: undefined })
      const mounted = registry.operations.get(id)
      assert.ok(mounted, id)
      const reply = await dispatch(
        {
          app: known,
          caller: more.caller ?? (await doors.enter(known, { apikey: app.apiKey })),
          operation: mounted,
          params: {},
          query: '',
          actAs: undefined,
          sent: async () => ({ text: JSON.stringify(body), body: { ...body }, files: [] }),
          gone: () => new AbortController().signal,
          ...more,
        },
        trace,
      )
      return JSON.parse(reply.text).data
    }

    const refusal = (code: string, status: number) => (error: ApiError) => {
      assert.deepEqual([error.code, error.status], [code, status], String(error.stack))
      return true
    }
    const noAccess = refusal('AUTH_ERR_NO_ACCESS', 403)
    const usedUp = refusal('ERR_TOO_MANY_REQUESTS', 429)
    const hello = { receiver: 'ada', receiverType: 'user', data: { text: 'Hello' } }
    const neverRead = async () => assert.fail('The body was read.')

    it('makes the same events as a request does, in the same order', async () => {
      const acts = async (through: AppClient): Promise<Logged[]> => {
        const { id } = await say(through, 'lin', 'ada')
        assertSucceeds(await through.put(`/messages/${id}`, { data: { text: 'Hello again' } }, as('lin')))
        assertSucceeds(await through.post(`/messages/${id}/reactions/wave`, undefined, as('ada')))
        assertSucceeds(await through.delete(`/messages/${id}`, undefined, as('lin')))
        assertFails(await through.delete('/messages/99', undefined, as('lin')), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
        return logOf(h, through)
      }
      const [mine, other] = [await appWith(h, 'ada', 'lin'), await appWith(h, 'ada', 'lin')]
      const straight = callerAt(dispatchClient(h.service, 'localhost'), other.host, '/v3', { apikey: other.apiKey })
      const [first, second] = [await acts(mine), await acts({ ...other, ...straight })]
      const heads = (log: Logged[]) =>
        log.map(({ name, payload, audience, told }) => [name, Object.keys(payload), audience, told?.trigger])
      assert.deepEqual(heads(second), heads(first))
      assert.ok(first.length > 4)
    })

    it('counts calls of an app and of a user in the windows that requests are counted in', async () => {
      const trace = newTrace()
      await ask('listApiKeys', {}, {}, trace)
      assert.deepEqual(trace.allowance, {
        limit: requestsMax,
        remaining: requestsMax - 1,
        resetsAt: now + windowSeconds,
      })
      const answer = await app.get('/apikeys')
      assert.equal(answer.headers['x-rate-limit-remaining'], String(requestsMax - 2))
      for (let n = 2; n < requestsMax; n += 1) await ask('listApiKeys')
      await assert.rejects(ask('listApiKeys'), usedUp)
      await assert.rejects(ask('createApiKey', {}, { sent: neverRead }), usedUp)
      assertFails(await app.get('/apikeys'), 429, 'ERR_TOO_MANY_REQUESTS')
    })

    it('counts what a user does before the body is read, and gives back what came to nothing', async () => {
      await assert.rejects(ask('sendMessage', { receiver: 3.5 }, { actAs: 'lin' }), { status: 400 })
      for (let n = 0; n < messagesMax - 1; n += 1) await ask('sendMessage', hello, { actAs: 'lin' })
      await say(app, 'lin', 'ada')
      await assert.rejects(ask('sendMessage', hello, { actAs: 'lin', sent: neverRead }), usedUp)
      await ask('sendMessage', { ...hello, receiver: 'lin' }, { actAs: 'ada' })
    })

    it('does under a key what was asked for once', async () => {
      const once = { key: 'one' }
      const first = await ask('probe', { word: 'a' }, { once })
      assert.deepEqual(await ask('probe', { word: 'a' }, { once }), first)
      assert.notDeepEqual(await ask('probe', { word: 'a' }), first)
      for (const [body, more] of [
        [{ word: 'b' }, {}],
        [{ word: 'a' }, { actAs: 'lin' }],
        [{ word: 'a' }, { query: 'x=1' }],
      ] as const) {
        await assert.rejects(ask('probe', body, { once, ...more }), refusal('ERR_BAD_REQUEST', 400))
      }
    })

    it('keeps the keys of different callers apart', async () => {
      const once = { key: 'shared', target: 'the same' }
      const callers: (Caller | undefined)[] = [undefined, media, jobs, { kind: 'system', part: 'user lin' }]
      const answers = []
      for (const caller of callers) answers.push(await ask('probe', {}, { once, ...(caller && { caller }) }))
      assert.equal(new Set(answers.map((each) => each.ran)).size, callers.length)
      for (const [n, caller] of callers.entries()) {
        assert.deepEqual(await ask('probe', {}, { once, ...(caller && { caller }) }), answers[n])
      }
    })

    it('lets the parts of the server call what opens to them, and nothing else', async () => {
      const { caller, actor } = await ask('probe', {}, { caller: media, actAs: ' LIN ' })
      assert.deepEqual([caller, actor], ['system', 'lin'])
      await assert.rejects(ask('sendMessage', hello, { caller: media, actAs: 'lin', sent: neverRead }), noAccess)
      await assert.rejects(ask('probe', {}, { caller: media, actAs: 'nobody' }), refusal('ERR_UID_NOT_FOUND', 404))
      await assert.rejects(ask('probe', {}, { caller: media, actAs: '  ' }), refusal('ERR_BAD_REQUEST', 400))
    })

    it('counts nothing of what the parts of the server do', async () => {
      for (let n = 0; n < 2 * requestsMax; n += 1) {
        const trace = newTrace()
        const { isCounted } = await ask('countedProbe', {}, { caller: media, actAs: 'lin' }, trace)
        assert.deepEqual([isCounted, trace.allowance], [false, undefined])
      }
      assert.equal((await ask('countedProbe', {}, { actAs: 'lin' })).isCounted, true)
    })

    it('is closed to system over HTTP, whatever is sent', async () => {
      assertSucceeds(await app.post('/probe', {}))
      const { authToken } = assertSucceeds(await app.post('/users/lin/auth_tokens')).data
      const asClient = await h.client.send(app.host, '/v3/probe', { method: 'POST', body: {}, headers: { authToken } })
      assertFails(asClient, 403, 'AUTH_ERR_NO_ACCESS')
    })

    it('keeps apps and those who run them apart, whichever operation is named', async () => {
      const { key, secret } = h.management
      const manager = await h.service.doors.enterManagement({ key, secret })
      const account = { app: undefined, caller: manager }
      await assert.rejects(ask('probe', {}, { ...account, sent: neverRead }), noAccess)
      await assert.rejects(ask('listApiKeys', {}, account), noAccess)
      const listApps = [...h.service.registry.operations.values()].find(
        ({ operation: { route } }) => route === 'GET /apps',
      )
      assert.ok(listApps)
      await assert.doesNotReject(ask(listApps.operation.id, {}, account))
      // In a strict house a refusal that is not declared is a fault of ours, and no operation of management declares this one.
      await assert.rejects(ask(listApps.operation.id), /AUTH_ERR_NO_ACCESS/)
    })

    it('answers what is not there only to those who are counted', async () => {
      const gone = badRequest({ name: ['means nothing'] })
      const trace = newTrace()
      await assert.rejects(ask('probe', {}, { operation: gone, sent: neverRead }, trace), gone)
      assert.equal(trace.allowance?.remaining, requestsMax - 1)
    })

    it('takes files, and removes them if nothing comes of the call', async () => {
      const file = async function* () {
        yield Buffer.from('plain words')
      }
      const withFile = (body: Record<string, unknown>): Ask['sent'] => {
        return async (_, receive) => {
          const intake = await receive?.()
          assert.ok(intake)
          const { file: taken, digest } = await intake.reception.take(file(), {
            name: 'words.txt',
            declaredType: 'text/plain',
          })
          return { text: JSON.stringify([body, digest]), body, files: [taken] }
        }
      }
      const { receiver, receiverType } = hello
      const message = { receiver, receiverType, type: 'file', category: 'message' }
      const sent = await ask('sendMessage', {}, { actAs: 'lin', sent: withFile(message) })
      assert.equal(sent.data.attachments[0].name, 'words.txt')
      const unchanged = await nothingChanges(h)
      const toNobody = { ...message, receiver: 'nobody-at-all' }
      await assert.rejects(ask('sendMessage', {}, { actAs: 'lin', sent: withFile(toNobody) }), { status: 404 })
      await h.settle()
      await unchanged('a message that was refused')
      await ask('probe', {}, { sent: async (_, receive) => ({ text: String(receive), body: {}, files: [] }) })
    })
  })
}
