import { spawnSync } from 'node:child_process'
import { homedir } from 'node:os'
import { parse } from 'node:path'

/** The machine whose stores of certificates are changed. */
export interface Machine {
  platform: NodeJS.Platform
  /** Where the browsers of whoever runs this keep their stores. */
  home: string
  /** What the paths of the system begin with. */
  root: string
  isAdministrator: boolean
  /** Runs a command of the system to its end. */
  run(command: string, words: string[]): CommandEnd
}

export interface CommandEnd {
  state: 'done' | 'failed' | 'missing'
  output: string
}

// Some systems ask the person in front of them first.
const commandMilliseconds = 120_000
const readableByAll = 0o022

export function thisMachine(): Machine {
  return {
    platform: process.platform,
    home: homedir(),
    root: parse(process.execPath).root,
    isAdministrator: process.getuid?.() === 0,
    run,
  }
}

function run(command: string, words: string[]): CommandEnd {
  // The mask of this process keeps everything from others, and what the system makes of certificates is for all.
  const mask = process.umask(readableByAll)
  try {
    const { error, status, stdout, stderr } = spawnSync(command, words, {
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
      timeout: commandMilliseconds,
    })
    if ((error as { code?: string } | undefined)?.code === 'ENOENT') return { state: 'missing', output: '' }
    if (error) return { state: 'failed', output: error.message }
    return { state: status === 0 ? 'done' : 'failed', output: `${stdout}${stderr}`.trim() }
  } finally {
    process.umask(mask)
  }
}
