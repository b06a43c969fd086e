import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { areas } from '../../server/src/areas/index.ts'
import { frameOf } from '../../server/src/dispatch/frames.ts'
import { closeCodes } from '../../server/src/gateway/close-codes.ts'
import type { EventDefinition } from '../../server/src/kit/event.ts'
import { attachDevice, connect, type Device, type Frame, openSocket, tokenOf } from '../support/device.ts'
import { type AppClient, assertSucceeds, type House, house } from '../support/house.ts'
import { appWith, as, say } from '../support/talk.ts'
import { until } from '../support/until.ts'

/**
 * The page that specifies the protocol is run: what it says is sent is sent, in its order, and what it says is answered and
 * told has to come. `<…>` stands for what differs from run to run.
 */

const page = readFileSync(join(import.meta.dirname, '../../docs/realtime.md'), 'utf8')

interface Example {
  kind: string
  frame: Frame
}

const examples: Example[] = [...page.matchAll(/^```json(.*)\n([\s\S]*?)\n```$/gm)].map(([, kind = '', text = '']) => ({
  kind: kind.trim(),
  frame: JSON.parse(text),
}))

/** The cells of the table that has this heading over its first column. */
function tableOf(heading: string): string[][] {
  const [, rows = ''] = page.split(`| ${heading} |`)[1]?.split(/\n\|[-|]+\|\n/) ?? []
  const [table = ''] = rows.split('\n\n')
  return table.split('\n').map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

const wordsIn = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, word = '']) => word)
const isPlaceholder = (value: unknown) => typeof value === 'string' && /^<.+>$/.test(value)
// In seconds, or in milliseconds.
const millisecondsFrom = 1e12
const isMoment = (value: unknown): value is number => typeof value === 'number' && value > 1e9

/** Whether a frame has all that an example has. */
function matches(frame: unknown, example: unknown): boolean {
  if (isPlaceholder(example)) return frame !== undefined
  if (isMoment(example)) return isMoment(frame) && frame > millisecondsFrom === example > millisecondsFrom
  if (typeof example !== 'object' || example === null) return frame === example
  if (typeof frame !== 'object' || frame === null) return false
  return Object.entries(example).every(([name, value]) => matches((frame as Record<string, unknown>)[name], value))
}

describe('the protocol', () => {
  let h: House
  let app: AppClient
  let lin: Device
  before(async () => {
    h = await house({ database: 'sqlite', livePatience: { graceMilliseconds: 50 } })
    app = await appWith(h, 'ada', 'lin')
    lin = await connect(h, app, 'lin')
  })
  after(() => h.close())

  async function opened() {
    const device = attachDevice(openSocket(h, app.host), 'ada')
    await device.opened
    return device
  }

  const hears = (device: Device, example: Frame) =>
    until(`${device.uid} is told ${JSON.stringify(example)}`, () =>
      device.frames.some((frame) => matches(frame, example)),
    )

  it('is what the page says: its frames are sent, answered and told', async () => {
    let ada = await opened()
    let last = ada
    const known: Record<string, string> = { '<a token of ada>': await tokenOf(app, 'ada'), ...(await callOfAda()) }
    const filled = (frame: Frame) =>
      JSON.parse(JSON.stringify(frame), (_, value) =>
        isPlaceholder(value) ? (known[value] ?? assert.fail(value)) : value,
      )
    for (const { kind, frame } of examples) {
      if (kind === 'sent again') {
        last = ada
        last.cut()
        known['<the last position>'] = last.position()
        known['<the last connection>'] = known['<this connection>'] ?? ''
        await say(app, 'lin', 'ada', 'While you were away')
        ada = await opened()
        ada.send(filled(frame))
        await hears(ada, { type: 'auth', body: { status: 'OK', resumed: true } })
        await hears(ada, { type: 'caught_up' })
        assert.deepEqual(
          ada.frames.map(({ type, body }) => body?.data?.text ?? type),
          ['auth', 'While you were away', 'caught_up'],
        )
      } else if (kind === 'sent') {
        ada.send(filled(frame))
      } else if (kind === 'told to lin') {
        await hears(lin, frame)
      } else if (kind === 'answered') {
        await hears(ada, frame)
        if (frame.type === 'auth') known['<this connection>'] = ada.frames[0].body.resource
      } else if (kind === 'told') {
        known['<id>'] = (await say(app, 'lin', 'ada', frame.body.data.text)).id
        await hears(ada, frame)
      } else {
        assert.equal(frame.type, 'presence')
        const watching = await connect(h, app, 'ada', { auth: { presence: { mode: 'ALL_USERS' } } })
        await appWithOneMore(frame.sender)
        await hears(watching, frame)
      }
    }
    assert.ok(examples.length >= 18)
  })

  async function callOfAda(): Promise<Record<string, string>> {
    const body = { receiver: 'lin', receiverType: 'user', type: 'video' }
    const placed = assertSucceeds(await app.post('/calls', body, as('ada'))).data
    const call = placed.data.entities.on.entity.sessionid
    const { token } = assertSucceeds(await app.post(`/calls/${call}/token`, {}, as('ada'))).data
    return { '<the call>': call, '<a call token of ada>': token }
  }

  /** Somebody comes who was not there before. */
  async function appWithOneMore(uid: string): Promise<void> {
    await lin.close()
    await until(`${uid} has gone`, async () => (await app.get(`/users/${uid}`)).body.data.status === 'offline')
    lin = await connect(h, app, uid)
  }

  it('has the frames that the page shows, and no others', async () => {
    const device = await opened()
    const { body } = await device.ask({ type: 'dance' })
    const [, types = ''] = /must be one of (.*)/.exec(body.details.type[0]) ?? []
    const shown = new Set(examples.filter(({ kind }) => kind.startsWith('sent')).map(({ frame }) => frame.type))
    assert.deepEqual([...shown].filter((type) => type !== 'dance').toSorted(), types.split(', ').toSorted())
    device.cut()
  })

  it('tells what the page says, in these words', () => {
    // Whatever an event has: how it is told does not depend on it.
    const anything: object = new Proxy({}, { get: (_, name) => (name === Symbol.iterator ? undefined : anything) })
    const told: Record<string, string[]> = { presence: [], typing_indicator: [], transient_message: [], throttled: [] }
    for (const event of areas.flatMap(({ events }) => events as EventDefinition[])) {
      if (event.audience.length === 0) continue
      const { type, body } = frameOf(event, anything)
      const { action } = body as { action?: unknown }
      told[type] = [...(told[type] ?? []), ...(typeof action === 'string' ? [action] : [])]
    }
    const rows = tableOf('`type`').flatMap(([types = '', about = '']) => {
      const [, actions = ''] = /`action`: ([^;]*)/.exec(about) ?? []
      return wordsIn(types).map((type) => [type, wordsIn(actions).toSorted()] as const)
    })
    const { call: _, ...others } = told
    const sorted = Object.entries(others).map(([type, actions]) => [type, actions.toSorted()] as const)
    assert.deepEqual(Object.fromEntries(rows.filter(([type]) => type !== 'call')), Object.fromEntries(sorted))
    assert.ok(rows.some(([type]) => type === 'call'))
  })

  it('ends with the codes that the page lists', () => {
    const listed = tableOf('Close code').map(([code]) => Number(code))
    assert.deepEqual(listed.toSorted(), Object.values(closeCodes).toSorted())
  })
})
