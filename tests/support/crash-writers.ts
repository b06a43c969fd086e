import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { callerAt } from './house.ts'
import type { Answer } from './http.ts'
import type { Random } from './random.ts'
import { type AppOnDisk, managementHost, type ServerProcess } from './server-process.ts'
import { until } from './until.ts'
import { form, formType, stream } from './uploads.ts'

/**
 * Clients that write until their server dies, and know exactly what it has acknowledged. After a restart each settles the
 * one write that it never got an answer to, and holds the server to all the others.
 */
export interface Writer {
  /** One write; fails when the connection breaks. */
  write(server: ServerProcess): Promise<void>
  /** Settles what is in doubt, then checks what was acknowledged since the last time, or ever. */
  verify(server: ServerProcess, extent: 'recent' | 'all'): Promise<void>
  /** How many facts the server has acknowledged to this writer. */
  acknowledged(): number
}

/** The server had no database to ask. */
export class Unavailable extends Error {}

function succeeded(answer: Answer) {
  if (answer.status === 503) throw new Unavailable(answer.text)
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data
}

const noHeaders = {}
const onceOnly = (key: string) => ({ 'Idempotency-Key': key })

interface Step {
  after: number
  do: string
  uid?: string
  deviceId?: string
}

const join = (after: number, uid: string): Step => ({ after, do: 'join', uid, deviceId: 'd1' })
const leave = (after: number, uid: string): Step => ({ after, do: 'leave', uid, deviceId: 'd1' })

/** Some of these calls are over when they are written; others go on, ring, or have somebody who is still there. */
const plots: ((caller: string) => Step[])[] = [
  () => [join(4, 'milo'), leave(64, 'milo')],
  (caller) => [join(0, caller), join(4, 'milo'), { after: 64, do: 'end' }],
  () => [],
  (caller) => [join(0, caller), join(1, 'milo')],
  () => [{ after: 3, do: 'reject', uid: 'milo' }],
  (caller) => [join(0, caller), join(2, 'milo'), leave(9, 'milo'), join(12, 'milo')],
]

const kindOfStep: Record<string, string> = { join: 'joined', leave: 'left', reject: 'rejected', end: 'ended' }

interface PlayedCall {
  caller: string
  steps: Step[]
  headers: Record<string, string>
}

interface KnownCall extends PlayedCall {
  sessionId: string
  /** The record as acknowledged; `undefined` where no answer came but the call turned out to be there. */
  record: { status: string } | undefined
}

const liveStatuses = ['initiated', 'ongoing']

/** Plays calls; every second one may be sent again without happening again. */
export function callWriter(lane: number, app: AppOnDisk, random: Random): Writer {
  const known: KnownCall[] = []
  let verified = 0
  let count = 0
  let pending: PlayedCall | undefined

  const play = ({ caller, steps, headers }: PlayedCall, server: ServerProcess) =>
    app.emulator(server).post('/calls/script', { initiator: caller, receiver: 'milo', steps }, headers)

  async function callsOf(caller: string, server: ServerProcess) {
    return (await app.at(server).get(`/calls?uid=${caller}`)).body
  }

  async function settle(call: PlayedCall, server: ServerProcess): Promise<void> {
    if (call.headers !== noHeaders) {
      const record = succeeded(await play(call, server))
      known.push({ ...call, sessionId: record.sessionId, record })
    }
    const { data, meta } = await callsOf(call.caller, server)
    assert.ok(meta.pagination.total <= 1, `the call of ${call.caller} happened ${meta.pagination.total} times`)
    if (call.headers === noHeaders && data[0]) known.push({ ...call, sessionId: data[0].sessionId, record: undefined })
  }

  /** What was answered before the crash is answered again, and still happened once. */
  async function repeatLast(server: ServerProcess): Promise<void> {
    const last = known.findLast(({ headers }) => headers !== noHeaders)
    if (!last) return
    assert.equal(succeeded(await play(last, server)).sessionId, last.sessionId)
    assert.equal((await callsOf(last.caller, server)).meta.pagination.total, 1)
  }

  async function check(call: KnownCall, server: ServerProcess): Promise<void> {
    const { sessionId, steps, record } = call
    const { facts } = succeeded(await app.at(server).get(`/calls/${sessionId}/explain`))
    const expected = ['initiated', ...steps.map((step) => kindOfStep[step.do])]
    const kinds = facts.map(({ fact }: { fact: { kind: string } }) => fact.kind)
    assert.deepEqual(kinds.slice(0, expected.length), expected)
    if (!record || liveStatuses.includes(record.status)) return
    assert.deepEqual(succeeded(await app.at(server).get(`/calls/${sessionId}`)), record)
  }

  return {
    async write(server) {
      count += 1
      const caller = `w${lane}-${count}`
      const headers = random.chance(0.5) ? onceOnly(caller) : noHeaders
      const call = { caller, steps: random.pick(plots)(caller), headers }
      pending = call
      const record = succeeded(await play(call, server))
      known.push({ ...call, sessionId: record.sessionId, record })
      pending = undefined
    },
    async verify(server, extent) {
      const doubtful = pending
      pending = undefined
      if (doubtful) await settle(doubtful, server)
      await repeatLast(server)
      for (const call of extent === 'all' ? known : known.slice(verified)) await check(call, server)
      verified = known.length
    },
    acknowledged: () => known.reduce((sum, { steps }) => sum + 1 + steps.length, 0),
  }
}

interface Key {
  apiKey: string
  name: string
  scope: string
}

type KeyChange =
  | { kind: 'create'; id: string; name: string }
  | { kind: 'update'; id: string; key: Key; name: string; scope: string }
  | { kind: 'delete'; id: string; key: Key }

const keysPerWriter = 3

/** Creates, changes and deletes API keys; its own are told apart by their names. */
export function keyWriter(lane: number, app: AppOnDisk, random: Random): Writer {
  const keys = new Map<string, Key>()
  let count = 0
  let acknowledged = 0
  let pending: KeyChange | undefined

  function choose(): KeyChange {
    count += 1
    const id = randomUUID()
    const name = `k${lane}-${count}`
    const owned = [...keys.values()]
    if (owned.length < keysPerWriter) return { kind: 'create', id, name }
    const key = random.pick(owned)
    if (random.chance(0.5)) return { kind: 'delete', id, key }
    return { kind: 'update', id, key, name, scope: random.pick(['fullAccess', 'authOnly']) }
  }

  function send(change: KeyChange, server: ServerProcess): Promise<Answer> {
    const at = app.at(server)
    const headers = onceOnly(change.id)
    if (change.kind === 'create') return at.post('/apikeys', { name: change.name }, headers)
    const path = `/apikeys/${change.key.apiKey}`
    if (change.kind === 'delete') return at.delete(path, undefined, headers)
    return at.put(path, { name: change.name, scope: change.scope }, headers)
  }

  async function apply(change: KeyChange, server: ServerProcess): Promise<void> {
    const data = succeeded(await send(change, server))
    if (change.kind === 'delete') keys.delete(change.key.apiKey)
    else keys.set(data.apiKey, { apiKey: data.apiKey, name: data.name, scope: data.scope })
    acknowledged += 1
  }

  async function stored(server: ServerProcess): Promise<Key[]> {
    const { body } = await app.at(server).get(`/apikeys?perPage=100&searchKey=k${lane}-`)
    return body.data.map(({ apiKey, name, scope }: Key) => ({ apiKey, name, scope }))
  }

  /** A change without an answer has happened, or not, but nothing in between. */
  async function adopt(change: KeyChange, server: ServerProcess): Promise<void> {
    const now = await stored(server)
    if (change.kind === 'create') {
      const key = now.find(({ name }) => name === change.name)
      if (key) keys.set(key.apiKey, key)
      return
    }
    const key = now.find(({ apiKey }) => apiKey === change.key.apiKey)
    if (change.kind === 'delete') {
      if (!key) keys.delete(change.key.apiKey)
      return
    }
    assert.ok(key, `the key ${change.key.name} is gone`)
    const after = { apiKey: change.key.apiKey, name: change.name, scope: change.scope }
    const happened = key.name === change.name
    assert.deepEqual(key, happened ? after : change.key)
    keys.set(key.apiKey, key)
  }

  return {
    async write(server) {
      const change = choose()
      pending = change
      await apply(change, server)
      pending = undefined
    },
    async verify(server) {
      const doubtful = pending
      pending = undefined
      if (doubtful) await (random.chance(0.5) ? apply(doubtful, server) : adopt(doubtful, server))
      const byKey = (a: Key, b: Key) => a.apiKey.localeCompare(b.apiKey)
      assert.deepEqual((await stored(server)).toSorted(byKey), [...keys.values()].toSorted(byKey))
    },
    acknowledged: () => acknowledged,
  }
}

/** Creates apps at the management host. */
export function appWriter(lane: number, pair: { key: string; secret: string }): Writer {
  const known: { id: string; name: string }[] = []
  let verified = 0
  let count = 0
  let pending: string | undefined

  const at = ({ client }: ServerProcess) => callerAt(client, managementHost, '', { ...pair })

  async function create(name: string, server: ServerProcess): Promise<void> {
    known.push(succeeded(await at(server).post('/apps', { name, region: 'us' }, onceOnly(name))))
  }

  return {
    async write(server) {
      count += 1
      const name = `app ${lane}-${count}.`
      pending = name
      await create(name, server)
      pending = undefined
    },
    async verify(server, extent) {
      const doubtful = pending
      pending = undefined
      if (doubtful !== undefined) {
        await create(doubtful, server)
        const { meta } = (await at(server).get(`/apps?searchKey=${encodeURIComponent(doubtful)}`)).body
        assert.equal(meta.pagination.total, 1, `the app ${doubtful} was created more than once`)
      }
      for (const app of extent === 'all' ? known : known.slice(verified)) {
        assert.deepEqual(succeeded(await at(server).get(`/apps/${app.id}`)), app)
      }
      verified = known.length
    },
    acknowledged: () => known.length,
  }
}

/** Makes sure that some users are there. */
async function peopled(app: AppOnDisk, uids: string[], server: ServerProcess): Promise<void> {
  for (const uid of uids) {
    const { status, body } = await app.at(server).post('/users', { uid, name: uid })
    assert.ok(status === 200 || body.error.code === 'ERR_UID_ALREADY_EXISTS', JSON.stringify(body))
  }
}

/** Sends messages from one user to another, each under an id of its own, which makes sending it again safe. */
export function messageWriter(lane: number, app: AppOnDisk): Writer {
  const [sender, receiver] = [`ms${lane}`, `mr${lane}`]
  const as = (uid: string) => ({ onBehalfOf: uid })
  const known: { id: string; muid: string }[] = []
  let isSettled = false
  let verified = 0
  let count = 0
  let pending: string | undefined

  async function settleIn(server: ServerProcess): Promise<void> {
    if (isSettled) return
    await peopled(app, [sender, receiver], server)
    isSettled = true
  }

  async function send(muid: string, server: ServerProcess): Promise<void> {
    const body = { receiver, receiverType: 'user', data: { text: muid }, muid }
    const { id } = succeeded(await app.at(server).post('/messages', body, as(sender)))
    known.push({ id, muid })
  }

  /** Everything that was said after a message, as the receiver reads it. */
  async function saidAfter(id: string, server: ServerProcess): Promise<{ id: string; muid: string }[]> {
    const { body } = await app.at(server).get(`/users/${sender}/messages?limit=1000&id=${id}`, as(receiver))
    return body.data.map((message: { id: string; muid: string }) => ({ id: message.id, muid: message.muid }))
  }

  return {
    async write(server) {
      await settleIn(server)
      count += 1
      pending = `m${lane}-${count}`
      await send(pending, server)
      pending = undefined
    },
    async verify(server, extent) {
      const doubtful = pending
      pending = undefined
      if (!isSettled) return
      if (doubtful !== undefined) await send(doubtful, server)
      const from = extent === 'all' ? 0 : verified
      const expected = known.slice(from)
      assert.deepEqual((await saidAfter(known[from - 1]?.id ?? '0', server)).slice(0, 1000), expected.slice(0, 1000))
      verified = known.length
      if (known.length === 0) return
      const { unreadMessageCount, lastMessage } = succeeded(
        await app.at(server).get(`/users/${sender}/conversation`, as(receiver)),
      )
      assert.deepEqual([unreadMessageCount, lastMessage.id], [String(known.length), known.at(-1)?.id])
    },
    acknowledged: () => known.length,
  }
}

interface SentPicture {
  id: string
  url: string
}

/** Sends pictures with messages, and deletes every other one of them again. */
export function pictureWriter(lane: number, app: AppOnDisk, picture: Buffer): Writer {
  const [sender, receiver] = [`ps${lane}`, `pr${lane}`]
  const acting = { onBehalfOf: sender }
  const kept: SentPicture[] = []
  const deleted: SentPicture[] = []
  let isSettled = false
  let verified = 0
  let verifiedGone = 0
  let count = 0
  let sending: string | undefined
  let deleting: SentPicture | undefined

  async function send(muid: string, server: ServerProcess): Promise<void> {
    const fields = { receiver, receiverType: 'user', type: 'image', muid }
    const parts = Object.entries(fields).map(([field, content]) => ({ field, content }))
    const raw = form(...parts, { field: 'file', content: picture, filename: `${muid}.jpg` })
    const headers = { ...acting, 'content-type': formType }
    const { id, data } = succeeded(await app.at(server).send('/messages', { method: 'POST', raw, headers }))
    kept.push({ id, url: data.attachments[0].url })
  }

  async function remove(message: SentPicture, server: ServerProcess): Promise<void> {
    const { status, text } = await app.at(server).delete(`/messages/${message.id}`, { permanent: true }, acting)
    assert.ok(status === 200 || status === 404, text)
    deleted.push(message)
  }

  const fetched = ({ url }: SentPicture, { port }: ServerProcess) => stream({ service: { port } }, url)

  return {
    async write(server) {
      if (!isSettled) await peopled(app, [sender, receiver], server)
      isSettled = true
      count += 1
      sending = `p${lane}-${count}`
      await send(sending, server)
      sending = undefined
      if (count % 2 === 0) return
      deleting = kept.pop()
      if (deleting) await remove(deleting, server)
      deleting = undefined
    },
    async verify(server, extent) {
      if (sending !== undefined) await send(sending, server)
      if (deleting !== undefined) await remove(deleting, server)
      sending = undefined
      deleting = undefined
      for (const message of extent === 'all' ? kept : kept.slice(verified)) {
        assert.ok((await fetched(message, server)).bytes.equals(picture), `message ${message.id} has lost its picture`)
      }
      // A job takes them away, which may have been cut short; what a killed node had claimed is free after a minute.
      for (const message of extent === 'all' ? deleted : deleted.slice(verifiedGone)) {
        await until('a deleted picture is gone', async () => (await fetched(message, server)).status === 404, 90_000)
      }
      verified = kept.length
      verifiedGone = deleted.length
    },
    acknowledged: () => kept.length + deleted.length,
  }
}
