import { createSocket } from 'node:dgram'
import { accessSync, constants } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { MediaSettings, PortRange } from './settings.ts'

/** What has to be there for media, found out without starting anything. What is missing is told in a sentence. */
export type Preflight = { binary: string; address: string } | { trouble: string }

const usualFolders = ['/usr/bin', '/usr/local/bin', '/usr/sbin', '/opt/janus/bin', '/opt/homebrew/bin']

export function programIn(name: string, given: string | undefined): string | undefined {
  const places = given === undefined ? usualFolders.map((folder) => join(folder, name)) : [given]
  return places.find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Addresses that devices can be told: the engine uses no loopback address, and links of their own need more than one. */
export function usableAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((found) => found ?? [])
    .filter(({ family, internal, address }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'))
    .map(({ address }) => address)
}

export async function preflight(settings: MediaSettings): Promise<Preflight> {
  const { janus, address: wanted, ports } = settings
  const binary = programIn('janus', janus)
  if (!binary) return { trouble: noBinary(janus) }
  const addresses = usableAddresses()
  const address = wanted ?? addresses[0]
  if (address === undefined) return { trouble: onlyLoopback }
  if (!addresses.includes(address)) return { trouble: notOurs(address, addresses) }
  if (await areAllTaken(address, ports)) return { trouble: portsTaken(address, ports) }
  return { binary, address }
}

const noBinary = (janus: string | undefined) =>
  janus === undefined
    ? 'There is no media engine on this machine; install the Debian package janus (apt-get install --no-install-recommends janus).'
    : `There is no program that could be run at ${janus}, which PARLEY_MEDIA_JANUS names as the media engine.`

const onlyLoopback =
  'This machine has no network address but loopback, which the media engine cannot use; give it another, or name one with PARLEY_MEDIA_ADDRESS.'

const notOurs = (address: string, addresses: string[]) =>
  `PARLEY_MEDIA_ADDRESS is ${address}, which is no address of this machine that media could use; it has ${
    addresses.length === 0 ? 'none' : addresses.join(', ')
  }.`

const portsTaken = (address: string, { first, last }: PortRange) =>
  `Others use the UDP ports from ${first} to ${last} of ${address}; choose other ones with PARLEY_MEDIA_PORTS.`

const samples = 8

/** A few of them, spread over the range; the engine passes over single ports that are taken. */
async function areAllTaken(address: string, { first, last }: PortRange): Promise<boolean> {
  const step = Math.max(1, Math.floor((last - first + 1) / samples))
  for (let port = first; port <= last; port += step) if (await isFree(address, port)) return false
  return true
}

export function isFree(address: string, port: number): Promise<boolean> {
  const socket = createSocket('udp4')
  return new Promise((resolve) => {
    socket.once('error', () => resolve(false))
    socket.bind({ address, port, exclusive: true }, () => socket.close(() => resolve(true)))
  })
}
