import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import {
  addressOfMedia,
  type OpenedEngine,
  openEngine,
  videoRoom,
  withoutJanus,
} from '../../../../../tests/support/media.ts'
import { keepsMediaContract } from '../../../../../tests/support/media-contract.ts'
import { offerOf } from '../../../../../tests/support/media-sdp.ts'
import { until } from '../../../../../tests/support/until.ts'
import { connectJanus } from './client.ts'
import type { Remembered, RememberedProcess } from './remembered.ts'

const publishing = { mayPublish: true }
const silently = () => {}
const patientMilliseconds = 30_000

const rememberedIn = ({ settings }: OpenedEngine): Remembered =>
  JSON.parse(readFileSync(join(settings.folder, 'engine.json'), 'utf8'))

/** What is written down of the one process there is. */
async function processOf(opened: OpenedEngine): Promise<RememberedProcess> {
  const written = () => {
    try {
      return rememberedIn(opened).processes[0]
    } catch {
      return undefined
    }
  }
  await until('a process is remembered', () => written()?.pid === opened.engine.processIds()[0])
  return written() ?? assert.fail()
}

const isAnswered = (port: number, host: string) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ port, host })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

const isRunning = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== ''
  } catch {
    return false
  }
}

const socketsOf = (pid: number) =>
  readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:')
    } catch {
      return false
    }
  }).length

async function fill({ engine }: OpenedEngine, room: string, devices: string[]): Promise<void> {
  await engine.openRoom(videoRoom(room))
  for (const device of devices) {
    await engine.join({ room, device }, publishing, silently)
    await engine.signal({ room, device }, { type: 'offer', sdp: offerOf('audio', 'video') })
  }
}

describe('Janus', { skip: withoutJanus }, () => {
  describe('keeps the contract', () => {
    let opened: OpenedEngine
    before(async () => {
      opened = await openEngine({ processes: 2 })
    })
    after(async () => {
      await opened.remove()
      assert.deepEqual(opened.troubles, [])
    })
    keepsMediaContract(() => opened.engine)
  })

  it('starts nothing before it is needed, and ends all when it is closed', async () => {
    const opened = await openEngine()
    assert.deepEqual(opened.engine.processIds(), [])
    await opened.engine.openRoom(videoRoom('a'))
    const [pid = 0] = opened.engine.processIds()
    assert.ok(isRunning(pid))
    await opened.remove()
    assert.ok(!isRunning(pid))
  })

  it('answers on loopback alone, where nobody expects it, and only who knows the secrets', async (t) => {
    const opened = await openEngine()
    t.after(opened.remove)
    const openBefore = await Promise.all([8188, 8088, 7188, 7088].map((port) => isAnswered(port, '127.0.0.1')))
    await opened.engine.openRoom(videoRoom('a'))
    const { apiPort, apiSecret, adminKey } = await processOf(opened)
    const openNow = await Promise.all([8188, 8088, 7188, 7088].map((port) => isAnswered(port, '127.0.0.1')))
    assert.deepEqual(openNow, openBefore, 'no usual port was opened')
    assert.ok(await isAnswered(apiPort, '127.0.0.1'))
    assert.ok(!(await isAnswered(apiPort, await addressOfMedia())))

    const stranger = await connectJanus({ port: apiPort, secret: 'guessed', answerMilliseconds: patientMilliseconds })
    await assert.rejects(stranger.createSession(), /Unauthorized/)
    stranger.close()
    const insider = await connectJanus({ port: apiPort, secret: apiSecret, answerMilliseconds: patientMilliseconds })
    t.after(insider.close)
    const handle = await insider.attach(await insider.createSession())
    await assert.rejects(handle.request({ request: 'create', room: 'mine' }), /admin_key|Missing/)
    await assert.rejects(handle.request({ request: 'destroy', room: 'a', secret: 'guessed' }), /Unauthorized/)
    const { data } = await handle.request({ request: 'list', admin_key: adminKey })
    assert.equal((data.list as unknown[]).length, 1)
  })

  it('runs as somebody without rights, and keeps its secrets from everybody else', async (t) => {
    const opened = await openEngine()
    t.after(opened.remove)
    await opened.engine.openRoom(videoRoom('a'))
    const { pid, folder } = await processOf(opened)
    const owner = statSync(`/proc/${pid}`).uid
    assert.equal(owner, process.getuid?.() === 0 ? 65_534 : process.getuid?.())
    for (const path of [folder, ...readdirSync(folder).map((name) => join(folder, name))]) {
      const { mode, uid } = statSync(path)
      assert.equal(mode & 0o077, 0, path)
      assert.equal(uid, owner, path)
    }
    for (const path of [opened.settings.folder, join(opened.settings.folder, 'engine.json')]) {
      assert.equal(statSync(path).mode & 0o077, 0, path)
    }
  })

  it('spreads rooms over processes that share no port', async (t) => {
    const opened = await openEngine({ processes: 2 })
    t.after(opened.remove)
    await fill(opened, 'a', ['ada'])
    await fill(opened, 'b', ['lin'])
    assert.deepEqual(
      opened.engine.nodes().map(({ rooms, devices }) => [rooms, devices]),
      [
        [1, 1],
        [1, 1],
      ],
    )
    assert.equal(new Set(opened.engine.processIds()).size, 2)
  })

  it('tells at once which rooms died with a process, and no others, and is there again soon', async (t) => {
    const opened = await openEngine({ processes: 2 })
    t.after(opened.remove)
    const { engine, events } = opened
    await fill(opened, 'a', ['ada', 'lin'])
    await fill(opened, 'b', ['max'])
    const [first = 0] = engine.processIds()
    const since = performance.now()
    process.kill(first, 'SIGKILL')
    await until('it is told', () => events.some(({ kind }) => kind === 'roomLost'))
    const toldAfter = performance.now() - since
    assert.ok(toldAfter < 2_000, `${toldAfter}`)
    assert.deepEqual(
      events.filter(({ kind }) => kind === 'roomLost').map(({ room }) => room),
      ['a'],
    )
    assert.ok(!events.some(({ kind }) => kind === 'left'), 'nobody has left')
    await fill(opened, 'a', ['ada', 'lin'])
    await until('both run', () => engine.nodes().every(({ isReady }) => isReady))
    assert.ok(!engine.processIds().includes(first))
    assert.deepEqual(engine.figures(), { rooms: 2, devices: 3, restarts: 1 })
  })

  it('ends a process that does not answer any more', async (t) => {
    const opened = await openEngine({}, { times: { pingMilliseconds: 100, answerMilliseconds: 1_000 } })
    t.after(opened.remove)
    const { engine, events } = opened
    await fill(opened, 'a', ['ada'])
    const [hung = 0] = engine.processIds()
    process.kill(hung, 'SIGSTOP')
    await until('it is given up', () => events.some(({ kind }) => kind === 'roomLost'), patientMilliseconds)
    await until('another is there', () => engine.processIds().some((pid) => pid !== hung), patientMilliseconds)
    assert.ok(!isRunning(hung))
    await fill(opened, 'a', ['ada'])
  })

  it('goes on with a process that stood still for a moment, and nothing in it is lost', async (t) => {
    const opened = await openEngine({}, { times: { pingMilliseconds: 100, answerMilliseconds: 1_000 } })
    t.after(opened.remove)
    const { engine, events } = opened
    await fill(opened, 'a', ['ada', 'lin'])
    const [pid = 0] = engine.processIds()
    process.kill(pid, 'SIGSTOP')
    await until('it is noticed', () => engine.nodes().every(({ isReady }) => !isReady))
    process.kill(pid, 'SIGCONT')
    await until('it is there again', () => engine.nodes().every(({ isReady }) => isReady))
    assert.deepEqual(engine.processIds(), [pid])
    await engine.join({ room: 'a', device: 'max' }, publishing, silently)
    assert.deepEqual(engine.figures(), { rooms: 1, devices: 3, restarts: 0 })
    assert.ok(events.every(({ kind }) => kind === 'joined'))
  })

  it('lets whoever waits for a process that dies know, whatever they were about', async (t) => {
    const opened = await openEngine()
    t.after(opened.remove)
    const { engine } = opened
    await fill(opened, 'a', ['ada'])
    const [pid = 0] = engine.processIds()
    process.kill(pid, 'SIGSTOP')
    const asked = [
      engine.join({ room: 'a', device: 'lin' }, publishing, silently),
      engine.signal({ room: 'a', device: 'ada' }, { type: 'offer', sdp: offerOf('audio') }),
      engine.leave({ room: 'a', device: 'ada' }),
      engine.closeRoom('a'),
    ]
    process.kill(pid, 'SIGKILL')
    const outcomes = await Promise.allSettled(asked)
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'rejected', 'fulfilled', 'fulfilled'],
    )
    await fill(opened, 'a', ['ada', 'lin'])
  })

  it('outlives a server that is killed, and is found by the next one with all that was in it', async (t) => {
    const opened = await openEngine()
    t.after(opened.remove)
    const script = join(import.meta.dirname, '../../../../../tests/support/media-server.ts')
    const words = ['--disable-warning=ExperimentalWarning', script, JSON.stringify(opened.settings)]
    const server = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] })
    const [line] = await once(server.stdout.setEncoding('utf8'), 'data')
    const pid = Number(line)
    assert.ok(isRunning(pid))
    server.kill('SIGKILL')
    await once(server, 'exit')
    assert.ok(isRunning(pid))
    const next = await opened.reopen()
    t.after(next.remove)
    assert.deepEqual(next.engine.processIds(), [pid])
    assert.deepEqual(next.engine.figures(), { rooms: 1, devices: 1, restarts: 0 })
    assert.equal(await next.engine.resume({ room: 'a', device: 'ada' }, silently), true)
    await next.engine.closeRoom('a')
    await next.engine.close()
    assert.ok(!isRunning(pid), 'an orderly end ends it')
  })

  it('goes on for the next server with what it had, and lets go of those who do not come back', async (t) => {
    const first = await openEngine()
    await fill(first, 'a', ['ada', 'lin', 'max'])
    const [pid] = first.engine.processIds()
    await first.engine.letGo()
    const second = await first.reopen()
    t.after(second.remove)
    const { engine, events } = second
    assert.deepEqual(engine.processIds(), [pid])
    assert.deepEqual(engine.figures(), { rooms: 1, devices: 3, restarts: 0 })
    assert.equal(await engine.resume({ room: 'a', device: 'ada' }, silently), true)
    await engine.signal({ room: 'a', device: 'ada' }, { type: 'offer', sdp: offerOf('audio') })
    await engine.leave({ room: 'a', device: 'max' })

    await engine.letGo()
    const third = await openEngine({ ...second.settings, awaitedSeconds: 0 })
    t.after(third.remove)
    await until('nobody is left', () => third.engine.figures().devices === 0)
    assert.deepEqual(
      third.events.map((event) => [event.kind, 'device' in event && event.device, 'reason' in event && event.reason]),
      [
        ['left', 'ada', 'lost'],
        ['left', 'lin', 'lost'],
      ],
    )
    assert.deepEqual(third.troubles, [])
    assert.ok(events.length > 0)
  })

  it('tells the next server that rooms are lost if their process has died, or is not what it should be', async (t) => {
    const first = await openEngine()
    await fill(first, 'a', ['ada'])
    const [pid = 0] = first.engine.processIds()
    await first.engine.letGo()
    process.kill(pid, 'SIGKILL')
    await until('it is dead', () => !isRunning(pid))
    const second = await first.reopen()
    assert.deepEqual(
      second.events.map(({ kind, room }) => [kind, room]),
      [['roomLost', 'a']],
    )
    await fill(second, 'a', ['ada'])
    const [other = 0] = second.engine.processIds()
    await second.engine.letGo()
    const third = await openEngine({ ...second.settings, ports: { first: 24_000, last: 24_999 } })
    t.after(third.remove)
    assert.ok(!isRunning(other), 'it was started with other settings')
    assert.deepEqual(
      third.events.map(({ kind, room }) => [kind, room]),
      [['roomLost', 'a']],
    )
  })

  it('closes rooms that stand empty, and ends processes without a room', async (t) => {
    const opened = await openEngine({}, { times: { emptyRoomMilliseconds: 1, idleProcessMilliseconds: 1 } })
    t.after(opened.remove)
    const { engine } = opened
    await fill(opened, 'a', ['ada'])
    const [pid = 0] = engine.processIds()
    await engine.leave({ room: 'a', device: 'ada' })
    await until('the room is closed', () => engine.figures().rooms === 0)
    await until('the process has ended', () => !isRunning(pid))
    await fill(opened, 'a', ['ada'])
    assert.notEqual(engine.processIds()[0], pid)
    assert.equal(engine.figures().restarts, 0)
  })

  it('takes down fifty rooms in order: the same process goes on, and no handle and no port of them is left', async (t) => {
    const opened = await openEngine()
    t.after(opened.remove)
    const { engine } = opened
    await fill(opened, 'first', ['ada'])
    await engine.closeRoom('first')
    const { pid, apiPort, apiSecret, adminKey } = await processOf(opened)
    const socketsAtRest = socketsOf(pid)
    const rooms = Array.from({ length: 50 }, (_, n) => `room ${n}`)
    await Promise.all(rooms.map((room) => fill(opened, room, ['ada', 'lin', 'max'])))
    assert.ok(socketsOf(pid) >= socketsAtRest + 100)
    await Promise.all(rooms.map((room) => engine.closeRoom(room)))
    assert.deepEqual(engine.processIds(), [pid])
    await until('all sockets are closed', () => socketsOf(pid) <= socketsAtRest)
    const client = await connectJanus({ port: apiPort, secret: apiSecret, answerMilliseconds: patientMilliseconds })
    t.after(client.close)
    const handle = await client.attach(await client.createSession())
    const { data } = await handle.request({ request: 'list', admin_key: adminKey })
    assert.deepEqual(data.list, [])
    assert.deepEqual(opened.troubles, [])
    assert.deepEqual(engine.figures(), { rooms: 0, devices: 0, restarts: 0 })
  })
})
