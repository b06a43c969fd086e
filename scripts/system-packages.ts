import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { folderOf } from './processes.ts'

/** Packages of the system, which can be installed as root on Debian and its relatives. */

export const canInstall = () => process.getuid?.() === 0 && folderOf('apt-get') !== undefined

// Services that come with a package and must run neither now nor after the next boot: Parley starts its own, and the one of
// Janus opens its API to everybody.
const services: Record<string, string> = { janus: 'janus', coturn: 'coturn' }

const policyFile = '/usr/sbin/policy-rc.d'
const refuseAll = '#!/bin/sh\nexit 101\n'
const executable = 0o755

/** Whether it could be done; nothing that a package brings is started. */
export function installPackages(packages: string[]): boolean {
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const words = ['install', '-y', '-qq', '--no-install-recommends', ...packages]
  const isOurPolicy = !existsSync(policyFile)
  try {
    if (isOurPolicy) writeFileSync(policyFile, refuseAll, { mode: executable })
    execFileSync('apt-get', ['update', '-qq'], { stdio: 'ignore', env: environment })
    execFileSync('apt-get', words, { stdio: ['ignore', 'ignore', 'inherit'], env: environment })
    for (const name of packages) if (services[name]) switchOff(services[name])
    return true
  } catch (error) {
    console.error(`Could not install them: ${(error as Error).message}`)
    return false
  } finally {
    if (isOurPolicy) rmSync(policyFile, { force: true })
  }
}

/** Where there is no such program, there is nothing that would start it. */
function switchOff(service: string): void {
  const ways = [
    ['systemctl', 'disable', '--quiet', service],
    ['update-rc.d', service, 'disable'],
  ]
  for (const [program = '', ...words] of ways) {
    if (!folderOf(program)) continue
    try {
      execFileSync(program, words, { stdio: 'ignore' })
    } catch {
      // It was not switched on.
    }
  }
}
