import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { DeviceRef, IceServer } from '../../../common/media.ts'
import { boundLog, type Daemon, findDaemon, lastWordsIn, startDaemon } from '../daemon.ts'
import { isFree, programIn } from '../preflight.ts'
import { engineUser, makeRuntimeFolder, removeRuntimeFolder } from '../runtime-folder.ts'
import type { RelaySettings } from '../settings.ts'
import { relayCredentials } from './credentials.ts'

/**
 * A relay (coturn) for devices whose networks let nothing else through: it reaches nothing but the media engine. It is
 * started with the server, watched, and outlives a kill of it, as the engine does.
 */
export interface Relay {
  iceServers(device: DeviceRef): IceServer[]
  trouble(): Promise<string | undefined>
  restarts(): number
  processId(): number | undefined
  close(): Promise<void>
  /** Leaves it running for another server. */
  letGo(): void
}

export interface RelayParts {
  settings: RelaySettings
  /** Where what is needed after a restart is kept. */
  folder: string
  /** That of the media engine. */
  address: string
  publicAddress: string | undefined
  uid: number | undefined
  onTrouble(error: unknown, what: string): void
}

const file = 'relay.json'
const ownerOnly = 0o600
const ownerOnlyFolder = 0o700
const secretBytes = 32
// Each device takes two connections from each of its networks, and those of a browser that was killed live on for minutes.
const allocationsPerDeviceMax = 40
const allocationsMax = 10_000
const pausesMilliseconds = [0, 500, 1_000, 2_000, 5_000, 10_000, 30_000]
const steadyMilliseconds = 60_000
const checkMilliseconds = 30_000
const millisecondsPerSecond = 1000

interface KnownRelay {
  pid: number
  folder: string
  secret: string
  startedWith: string
}

export async function openRelay(parts: RelayParts): Promise<Relay> {
  const { settings, folder, address, publicAddress, onTrouble } = parts
  const startedWith = JSON.stringify([settings.port, settings.ports, address, publicAddress ?? null, parts.uid ?? null])
  mkdirSync(folder, { recursive: true, mode: ownerOnlyFolder })
  const before = readKnown(folder)
  const secret = before?.secret ?? randomBytes(secretBytes).toString('base64url')
  let daemon: Daemon | undefined
  let runtimeFolder = ''
  let isClosed = false
  let deaths = 0
  let restarts = 0
  let trouble: string | undefined

  function keep(found: Daemon, itsFolder: string): void {
    const since = performance.now()
    daemon = found
    runtimeFolder = itsFolder
    trouble = undefined
    const known: KnownRelay = { pid: found.pid, folder: itsFolder, secret, startedWith }
    writeFileSync(join(folder, file), JSON.stringify(known), { mode: ownerOnly })
    found.onExit(() => void lost(found, since))
  }

  async function lost(gone: Daemon, since: number): Promise<void> {
    if (isClosed || daemon !== gone) return
    daemon = undefined
    deaths = performance.now() - since > steadyMilliseconds ? 1 : deaths + 1
    restarts += 1
    trouble = `The relay has ended: ${lastWordsIn(runtimeFolder) || 'it said nothing'}.`
    onTrouble(new Error(trouble), 'the relay for media has died')
    removeRuntimeFolder(runtimeFolder)
    await startAgain()
  }

  /** As often as it takes, with pauses that grow. */
  async function startAgain(): Promise<void> {
    const wait = pausesMilliseconds[Math.min(deaths, pausesMilliseconds.length) - 1] ?? 0
    await pause(wait, undefined, { ref: false })
    await start().catch(failed)
  }

  function failed(error: unknown): void {
    const isNews = trouble !== (error as Error).message
    trouble = (error as Error).message
    deaths += 1
    if (isNews) onTrouble(error, 'the relay for media cannot be started')
    void startAgain()
  }

  async function start(): Promise<void> {
    if (isClosed) return
    const found = await relayPreflight(settings, address)
    if ('trouble' in found) throw new Error(found.trouble)
    const uid = engineUser(parts.uid)
    const made = makeRuntimeFolder((path) => ({ [configuration]: textOf(parts, secret, path) }), uid)
    const words = ['-c', join(made, configuration)]
    keep(await startDaemon({ binary: found.binary, words, folder: made, ...(uid !== undefined && { uid }) }), made)
    if (isClosed) await daemon?.end()
  }

  const left = before && findDaemon(before.pid, before.folder)
  if (left && before.startedWith === startedWith) keep(left, before.folder)
  else {
    await left?.end()
    if (before) removeRuntimeFolder(before.folder)
    await start().catch(failed)
  }
  const timer = setInterval(() => boundLog(runtimeFolder), checkMilliseconds)
  timer.unref()

  return {
    iceServers({ room, device }) {
      const host = publicAddress ?? address
      const until = Math.floor(Date.now() / millisecondsPerSecond) + settings.credentialSeconds
      const urls = ['udp', 'tcp'].map((way) => `turn:${host}:${settings.port}?transport=${way}`)
      return [{ urls, ...relayCredentials(secret, whose(room, device), until) }]
    },
    trouble: async () => trouble,
    restarts: () => restarts,
    processId: () => daemon?.pid,
    async close() {
      isClosed = true
      clearInterval(timer)
      await daemon?.end()
      removeRuntimeFolder(runtimeFolder)
    },
    letGo() {
      isClosed = true
      clearInterval(timer)
    },
  }
}

const whoseCharacters = 16

/** A name of its own for each device, since each has an allowance of its own; it tells nothing of whose it is. */
function whose(room: string, device: string): string {
  return createHash('sha256')
    .update(JSON.stringify([room, device]))
    .digest('hex')
    .slice(0, whoseCharacters)
}

function readKnown(folder: string): KnownRelay | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, file), 'utf8'))
  } catch {
    return undefined
  }
}

export async function relayPreflight(
  { turnserver, port }: RelaySettings,
  address: string,
): Promise<{ binary: string } | { trouble: string }> {
  const binary = programIn('turnserver', turnserver)
  if (!binary) {
    return {
      trouble:
        'There is no relay for media on this machine; install the Debian package coturn ' +
        '(apt-get install --no-install-recommends coturn), or set PARLEY_MEDIA_RELAY to off.',
    }
  }
  if (await isFree(address, port)) return { binary }
  return {
    trouble: `Another program uses port ${port} of ${address}; choose another one with PARLEY_MEDIA_RELAY_PORT.`,
  }
}

/** Why there would be no relay, or is none; whoever asks need not be the server that runs it. */
export async function relayTrouble(
  settings: RelaySettings,
  folder: string,
  address: string,
): Promise<string | undefined> {
  const known = readKnown(folder)
  if (known && findDaemon(known.pid, known.folder)) return undefined
  const found = await relayPreflight(settings, address)
  return 'trouble' in found ? found.trouble : undefined
}

const configuration = 'turnserver.conf'

function textOf({ settings, address, publicAddress }: RelayParts, secret: string, folder: string): string {
  const outside =
    publicAddress === undefined || publicAddress === address ? [] : [`external-ip=${publicAddress}/${address}`]
  const reachable = [address, ...(publicAddress === undefined ? [] : [publicAddress])]
  return [
    `listening-ip=${address}`,
    `listening-port=${settings.port}`,
    `relay-ip=${address}`,
    ...outside,
    `min-port=${settings.ports.first}`,
    `max-port=${settings.ports.last}`,
    'fingerprint',
    'use-auth-secret',
    `static-auth-secret=${secret}`,
    'realm=parley',
    `user-quota=${allocationsPerDeviceMax}`,
    `total-quota=${allocationsMax}`,
    'no-cli',
    'no-tls',
    'no-dtls',
    'no-multicast-peers',
    'denied-peer-ip=0.0.0.0-255.255.255.255',
    ...reachable.map((each) => `allowed-peer-ip=${each}`),
    `userdb=${folder}/users`,
    `pidfile=${folder}/pid`,
    'log-file=stdout',
    'simple-log',
    '',
  ].join('\n')
}
