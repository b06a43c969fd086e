import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { offerOf } from '../../../../tests/support/media-sdp.ts'
import { until } from '../../../../tests/support/until.ts'
import { type MediaEvent, MediaUnavailable } from '../../common/media.ts'
import { mediaTrouble } from './checks.ts'
import { mediaHearers } from './hearers.ts'
import { janusFiles, janusWords } from './janus/configuration.ts'
import { openJanusEngine } from './janus/engine.ts'
import { readEngineEvent } from './janus/event-reading.ts'
import { openEventServer } from './janus/event-server.ts'
import { engineName, nameBehind, opaqueBehind, opaqueName, visitBehind, visitName } from './janus/names.ts'
import { memoryIn, readRemembered } from './janus/remembered.ts'
import { noMedia } from './none.ts'
import { takeOwnFolder } from './own-folder.ts'
import { usableAddresses } from './preflight.ts'
import { removeRuntimeFolder } from './runtime-folder.ts'
import { hasLiveVideo, looksLikeSdp } from './sdp.ts'
import { type MediaSettings, partOf } from './settings.ts'
import { relayCredentials } from './turn/credentials.ts'

const anyProgram = process.execPath

function settingsIn(t: TestContext, changes: Partial<MediaSettings> = {}): MediaSettings {
  const folder = mkdtempSync(join(tmpdir(), 'parley-test-media-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const ports = { first: 26_000, last: 26_999 }
  return { folder, janus: anyProgram, ports, processes: 2, awaitedSeconds: 1, ...changes }
}

describe('what media needs', () => {
  it('is told in a sentence each: no program, no such address, no port', async (t) => {
    const missing = settingsIn(t, { janus: '/nowhere/janus' })
    assert.match((await mediaTrouble(missing)) ?? '', /\/nowhere\/janus, which PARLEY_MEDIA_JANUS names.*\.$/)
    const elsewhere = settingsIn(t, { address: '203.0.113.77' })
    assert.match((await mediaTrouble(elsewhere)) ?? '', /PARLEY_MEDIA_ADDRESS is 203\.0\.113\.77.*\.$/)
    const loopback = settingsIn(t, { address: '127.0.0.1' })
    assert.match((await mediaTrouble(loopback)) ?? '', /no address of this machine that media could use/)
    const [address] = usableAddresses()
    if (address === undefined) return t.diagnostic('this machine has no address but loopback')
    const taken = createSocket('udp4')
    await new Promise<void>((resolve) => taken.bind({ address, port: 0 }, resolve))
    const { port } = taken.address()
    const full = settingsIn(t, { ports: { first: port, last: port } })
    assert.match((await mediaTrouble(full)) ?? '', /PARLEY_MEDIA_PORTS\.$/)
    taken.close()
    assert.equal(await mediaTrouble(settingsIn(t)), undefined)
  })

  it('is told to whoever asks for media, by an engine that cannot be started, and by none at all', async (t) => {
    const spec = { room: 'a', media: ['audio' as const], publishersMax: 1, videoBitrateMax: 1 }
    const troubles: unknown[] = []
    const settings = settingsIn(t, { janus: '/nowhere/janus' })
    const engine = await openJanusEngine({ settings, onTrouble: (error) => troubles.push(error) })
    t.after(engine.close)
    await assert.rejects(
      engine.openRoom(spec),
      (error) => error instanceof MediaUnavailable && /PARLEY_MEDIA_JANUS/.test(error.message),
    )
    assert.match((await engine.trouble()) ?? '', /PARLEY_MEDIA_JANUS/)
    const none = noMedia(async () => 'Because.')
    await assert.rejects(
      none.openRoom(spec),
      (error) => error instanceof MediaUnavailable && error.message === 'Because.',
    )
    assert.equal(await none.resume({ room: 'a', device: 'b' }, () => {}), false)
    await none.closeRoom('a')
  })

  it('is divided into ranges of ports that do not meet', () => {
    const parts = [0, 1, 2].map((n) => partOf({ first: 1000, last: 1099 }, n, 3))
    assert.deepEqual(parts, [
      { first: 1000, last: 1032 },
      { first: 1033, last: 1065 },
      { first: 1066, last: 1098 },
    ])
  })
})

describe('the configuration of the engine', () => {
  const configuration = {
    node: 'media-1',
    apiPort: 4444,
    apiSecret: 'secret-of-api',
    adminKey: 'key-of-admin',
    eventsUrl: 'ws://127.0.0.1:5555/path',
    address: '192.0.2.2',
    publicAddress: '203.0.113.1',
    ports: { first: 30_000, last: 30_499 },
  }

  it('opens nothing but one port on loopback, and names the folder in both ways that it needs', () => {
    const files = janusFiles(configuration)
    const api = files['janus.transport.websockets.jcfg'] ?? ''
    assert.match(api, /ws_ip = "127\.0\.0\.1"\n\s+ws_port = 4444/)
    assert.match(api, /wss = false/)
    assert.match(api, /admin_ws = false/)
    assert.match(files['janus.transport.http.jcfg'] ?? '', /http = false.*admin_http = false/s)
    assert.match(files['janus.plugin.videoroom.jcfg'] ?? '', /string_ids = true {2}admin_key = "key-of-admin"/)
    assert.deepEqual(janusWords('/x'), ['-F', '/x', '-C', '/x/janus.jcfg'])
  })

  it('holds addresses, ports and where to tell what happens', () => {
    const files = janusFiles(configuration)
    const main = files['janus.jcfg'] ?? ''
    assert.match(main, /rtp_port_range = "30000-30499"/)
    assert.match(
      main,
      /ice_enforce_list = "192\.0\.2\.2" {2}nat_1_1_mapping = "203\.0\.113\.1" {2}keep_private_host = true/,
    )
    assert.match(main, /event_loops = [1-4]\n/)
    assert.ok(!(janusFiles({ ...configuration, publicAddress: undefined })['janus.jcfg'] ?? '').includes('nat_1_1'))
    assert.match(files['janus.eventhandler.wsevh.jcfg'] ?? '', /backend = "ws:\/\/127\.0\.0\.1:5555\/path"/)
  })
})

describe('names for the engine', () => {
  it('are safe as names of files, and lead back', () => {
    for (const name of ['plain', 'v1.us.x', '../../etc/passwd', 'a~b', '~7e', 'Łódź “1”', '', '🎥', 'a/b.3']) {
      assert.match(engineName(name), /^[A-Za-z0-9_~-]*$/)
      assert.equal(nameBehind(engineName(name)), name)
      const visit = { device: name, number: 12 }
      assert.deepEqual(visitBehind(visitName(visit)), visit)
      assert.deepEqual(opaqueBehind(opaqueName(name, visitName(visit))), { room: name, visit })
    }
    for (const other of ['', 'x', 'x.', 'undefined']) assert.equal(visitBehind(other), undefined)
  })
})

describe('what the engine tells', () => {
  const told = (type: number, event: object, rest: object = {}) =>
    readEngineEvent({ emitter: 'media-1', type, timestamp: 5_000_000_400, event, ...rest })
  const opaque = opaqueName('r', 'ada.7')
  const about = { node: 'media-1', room: 'r', visit: { device: 'ada', number: 7 } }

  it('is read by room and device, also when their session is gone', () => {
    const gone = { ...about, at: 5_000_000, kind: 'gone' }
    for (const event of ['leaving', 'kicked'])
      assert.deepEqual(told(64, { data: { event, room: 'r', id: 'ada.7' } }), gone)
    const loud = told(64, { data: { videoroom: 'talking', room: 'r', id: 'ada.7' } })
    assert.deepEqual(loud, { ...about, at: 5_000_000, kind: 'speaking', isOn: true })
  })

  it('has the true time: that nothing comes is told a second late', () => {
    const media = (receiving: boolean) =>
      told(32, { media: 'video', mid: '1', receiving }, { subtype: 1, opaque_id: opaque })
    assert.deepEqual(media(true), { ...about, at: 5_000_000, kind: 'receiving', media: 'video', mid: '1', isOn: true })
    assert.deepEqual(media(false), {
      ...about,
      at: 4_999_000,
      kind: 'receiving',
      media: 'video',
      mid: '1',
      isOn: false,
    })
  })

  it('says how well it goes, in which direction', () => {
    const lost = (opaqueId: string) => told(32, { mid: '0', lost_lastsec: 9 }, { subtype: 2, opaque_id: opaqueId })
    assert.deepEqual(lost(opaque), { ...about, at: 5_000_000, kind: 'lost', lostPackets: 9, way: 'send' })
    assert.deepEqual(lost(`${opaque}/receive`), {
      ...about,
      at: 5_000_000,
      kind: 'lost',
      lostPackets: 9,
      way: 'receive',
    })
  })

  it('is passed over where it is nothing of that', () => {
    const others = [
      {},
      { type: 64 },
      { type: 32, timestamp: 'x' },
      { type: 64, timestamp: 1, event: null },
      { type: 32, timestamp: 1, subtype: 3, event: [] },
    ]
    for (const other of others) assert.equal(readEngineEvent(other), undefined)
    assert.equal(told(64, { data: { event: 'created', room: 'r' } }), undefined)
  })
})

describe('where the engine tells it', () => {
  const connectTo = (url: string, protocol = 'janus-event-handlers') => {
    const socket = new WebSocket(url, protocol)
    return new Promise<WebSocket | undefined>((resolve) => {
      socket.addEventListener('open', () => resolve(socket))
      socket.addEventListener('error', () => resolve(undefined))
    })
  }

  it('only who knows the path is heard, one event or many at a time, and nonsense harms nobody', async (t) => {
    const heard: unknown[] = []
    const server = await openEventServer('secret', 0, ({ n }) => heard.push(n))
    t.after(server.close)
    assert.equal(await connectTo(server.url.replace('secret', 'guessed')), undefined)
    assert.equal(await connectTo(server.url.replace('/secret', '')), undefined)
    const socket = await connectTo(server.url)
    for (const text of ['{"n":1}', '[{"n":2},[{"n":3}],null,7]', '{', '', '[]', '"x"', '{"n":4}']) socket?.send(text)
    await until('all is heard', () => heard.length === 4)
    assert.deepEqual(heard, [1, 2, 3, 4])
    socket?.close()
  })

  it('is the port it was before, where that is free', async (t) => {
    const first = await openEventServer('x', 0, () => {})
    await assert.rejects(openEventServer('x', first.port, () => {}))
    await first.close()
    const second = await openEventServer('x', first.port, () => {})
    t.after(second.close)
    assert.equal(second.url, first.url)
  })
})

describe('listeners of media', () => {
  it('hear what came before the first of them, and do not hurt each other', () => {
    const troubles: unknown[] = []
    const { tell, hear } = mediaHearers((error) => troubles.push(error))
    const lost = (room: string): MediaEvent => ({ kind: 'roomLost', room, at: 1 })
    const heard: string[] = []
    tell(lost('early'))
    hear(() => {
      throw new Error('no')
    })
    const stop = hear(({ room }) => heard.push(room))
    tell(lost('late'))
    stop()
    tell(lost('later'))
    assert.deepEqual([heard, troubles.length], [['late'], 3])
  })
})

describe('a session description', () => {
  it('has live video unless that is refused or inactive', () => {
    assert.equal(hasLiveVideo(offerOf('audio')), false)
    assert.equal(hasLiveVideo(offerOf('audio', 'video')), true)
    assert.equal(hasLiveVideo(offerOf('audio', 'video').replace('m=video 9', 'm=video 0')), false)
    const inactive = offerOf('video').replace('a=sendonly', 'a=inactive')
    assert.equal(hasLiveVideo(inactive), false)
    assert.equal(hasLiveVideo(inactive.replaceAll('\r', '')), false)
    assert.ok(looksLikeSdp(offerOf('audio')))
    for (const other of ['', 'v=0', null, {}, 'm=audio']) assert.ok(!looksLikeSdp(other))
  })
})

describe('what is remembered', () => {
  it('is written for nobody else to read, and is nothing where it cannot be read', async (t) => {
    const { folder } = settingsIn(t)
    const state = { events: { port: 1, path: 'x' }, processes: [] }
    const memory = memoryIn(
      join(folder, 'inside'),
      () => state,
      (error) => assert.fail(String(error)),
    )
    assert.equal(readRemembered(join(folder, 'inside')), undefined)
    memory.save()
    memory.save()
    await memory.saved()
    assert.deepEqual(readRemembered(join(folder, 'inside')), state)
    assert.equal(statSync(join(folder, 'inside/engine.json')).mode & 0o077, 0)
    for (const text of ['', '{', '{}', '[]', 'null', '{"events":{"port":"x"}}']) {
      writeFileSync(join(folder, 'inside/engine.json'), text)
      assert.equal(readRemembered(join(folder, 'inside')), undefined, text)
    }
  })

  it('belongs to one server at a time, also where several share a data folder', async (t) => {
    const { folder } = settingsIn(t)
    const base = join(folder, 'media')
    const [one, two] = [await takeOwnFolder(base), await takeOwnFolder(base)]
    assert.deepEqual([one.folder, two.folder], [base, `${base}-2`])
    await one.release()
    const again = await takeOwnFolder(base)
    assert.equal(again.folder, base)
    await Promise.all([again.release(), two.release()])
  })

  it('never leads to the removal of a folder that is not ours', (t) => {
    const { folder } = settingsIn(t)
    writeFileSync(join(folder, 'kept'), 'x')
    removeRuntimeFolder(folder)
    assert.equal(readFileSync(join(folder, 'kept'), 'utf8'), 'x')
  })
})

describe('credentials for the relay', () => {
  it('are what coturn computes', () => {
    // printf '1700000000:x' | openssl dgst -sha1 -hmac secret -binary | base64
    const { username, credential } = relayCredentials('secret', 'x', 1_700_000_000)
    assert.equal(username, '1700000000:x')
    assert.equal(credential, 'ct+k6VF81Hlm0lyw3W2FUnVnPh8=')
  })
})
