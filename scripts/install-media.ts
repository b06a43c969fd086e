import { canInstall, installCommand, installPackages } from './system-packages.ts'

/** Brings the media engine that calls need, or says how; a server without it is better than none. */

const packages = ['janus']

if (canInstall()) {
  const since = performance.now()
  process.stderr.write('Installing the media engine for calls (needed once) ...')
  const isDone = installPackages(packages)
  process.stderr.write(isDone ? ` done in ${Math.round((performance.now() - since) / 1000)} s\n` : '\n')
} else {
  process.stderr.write(
    `Calls have no sound and no pictures until the media engine is there: ${installCommand(packages)}\n`,
  )
}
