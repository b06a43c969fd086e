import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { chromiumBinary, withoutSuggestions } from '../../scripts/chromium.ts'
import {
  type JanusEngine,
  type JanusEngineOptions,
  openJanusEngine,
} from '../../server/src/adapters/media/janus/engine.ts'
import { preflight, programIn } from '../../server/src/adapters/media/preflight.ts'
import type { MediaSettings } from '../../server/src/adapters/media/settings.ts'
import type {
  DeviceRef,
  FromDevice,
  IceServer,
  MediaEngine,
  MediaEvent,
  RoomSpec,
} from '../../server/src/common/media.ts'
import { until } from './until.ts'

/** A real engine and real browsers, for tests of media. */

export const withoutJanus = programIn('janus', undefined) ? false : 'needs Janus, which was not found'
export const withoutBrowser = withoutJanus || (chromiumBinary() ? false : 'needs Chromium, which was not found')
export const withoutRelay = withoutBrowser || (programIn('turnserver', undefined) ? false : 'needs coturn')

export const videoRoom = (room: string): RoomSpec => ({
  room,
  media: ['audio', 'video'],
  publishersMax: 50,
  videoBitrateMax: 1_000_000,
})

export const audioRoom = (room: string): RoomSpec => ({ ...videoRoom(room), media: ['audio'] })

export interface OpenedEngine {
  engine: JanusEngine
  settings: MediaSettings
  events: MediaEvent[]
  troubles: string[]
  /** Another server on the same folder. */
  reopen(): Promise<OpenedEngine>
  remove(): Promise<void>
}

type Rest = Partial<Omit<JanusEngineOptions, 'settings'>>

export async function openEngine(changes: Partial<MediaSettings> = {}, rest: Rest = {}): Promise<OpenedEngine> {
  const settings: MediaSettings = {
    folder: mkdtempSync(join(tmpdir(), 'parley-test-media-')),
    ports: { first: 20_000, last: 23_999 },
    processes: 1,
    awaitedSeconds: 60,
    ...changes,
  }
  const troubles: string[] = []
  const events: MediaEvent[] = []
  const onTrouble = (error: unknown, what: string) => void troubles.push(`${what}: ${String(error)}`)
  const engine = await openJanusEngine({ settings, onTrouble, ...rest })
  engine.hear((event) => events.push(event))
  return {
    ...{ engine, settings, events, troubles },
    reopen: () => openEngine(settings, rest),
    async remove() {
      await engine.close()
      rmSync(settings.folder, { recursive: true, force: true })
    },
  }
}

export async function addressOfMedia(): Promise<string> {
  const found = await preflight({ folder: '', ports: { first: 20_000, last: 23_999 }, processes: 1, awaitedSeconds: 1 })
  if ('trouble' in found) throw new Error(found.trouble)
  return found.address
}

export interface Flow {
  kind: string
  codec: string
  from: string | undefined
  frames: number
  height: number
  packets: number
}

export interface Received {
  flows: Flow[]
  cipher: string
  candidate: string
}

interface Sending {
  video?: boolean
  codec?: string
  simulcast?: boolean
  hums?: boolean
  iceServers?: IceServer[]
  relayOnly?: boolean
}

/** A page that is a device in rooms of an engine. */
export interface MediaPeer {
  page: Page
  ref: DeviceRef
  /** What it was refused. */
  refusals: string[]
  join(engine: MediaEngine, how?: { mayPublish: boolean }): Promise<void>
  resume(engine: MediaEngine): Promise<boolean>
  send(sending?: Sending): Promise<void>
  received(): Promise<Received>
  /** Videos of somebody that were decoded so far. */
  framesFrom(device: string): Promise<number>
  seesMoreOf(device: string): Promise<void>
  /** Answers what a script in its page says. */
  evaluate<T>(script: string): Promise<T>
}

export interface MediaStage {
  peer(room: string, device: string): Promise<MediaPeer>
  close(): Promise<void>
}

const peerFile = join(import.meta.dirname, '../page/media-peer.ts')

export async function openMediaStage(): Promise<MediaStage> {
  // A page needs an address that browsers trust with a camera.
  const http = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<p>A device.'))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/`
  const script = stripTypeScriptTypes(readFileSync(peerFile, 'utf8'))
  const browser = await startBrowser()
  return {
    peer: (room, device) => openPeer(browser, url, script, { room, device }),
    async close() {
      await browser.close()
      http.close()
    },
  }
}

function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumBinary() ?? '',
    args: [
      ...['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-sync', '--mute-audio'],
      ...['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
      '--autoplay-policy=no-user-gesture-required',
      withoutSuggestions,
    ],
  })
}

async function openPeer(browser: Browser, url: string, script: string, ref: DeviceRef): Promise<MediaPeer> {
  const page = await (await browser.newContext({ permissions: ['camera', 'microphone'] })).newPage()
  const refusals: string[] = []
  let engine: MediaEngine | undefined
  await page.exposeFunction('say', (signal: FromDevice) => {
    engine?.signal(ref, signal).catch((error) => refusals.push(String(error)))
  })
  await page.goto(url)
  await page.addScriptTag({ content: script })
  const run = <T>(what: string) => page.evaluate(what) as Promise<T>
  const toDevice = (signal: unknown) => void run(`hear(${JSON.stringify(signal)})`).catch(() => {})
  const received = () => run<Received>('received()')
  const framesFrom = async (device: string) =>
    (await received()).flows.filter(({ from }) => from === device).reduce((sum, { frames }) => sum + frames, 0)
  return {
    ...{ page, ref, refusals, received, framesFrom },
    join(asked, how = { mayPublish: true }) {
      engine = asked
      return asked.join(ref, how, toDevice)
    },
    resume(asked) {
      engine = asked
      return asked.resume(ref, toDevice)
    },
    send: ({ video = true, codec = 'H264', ...rest } = {}) => run(`send(${JSON.stringify({ video, codec, ...rest })})`),
    async seesMoreOf(device) {
      const before = await framesFrom(device)
      const more = 10
      await until(
        `frames of ${device} arrive at ${ref.device}`,
        async () => (await framesFrom(device)) >= before + more,
        30_000,
      )
    },
    evaluate: run,
  }
}
