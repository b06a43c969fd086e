import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { obey } from '../../server/src/cli/parley.ts'
import { acrossApps } from './tripwire.ts'

/** What came of the parley command. */
export interface Run {
  code: number
  stdout: string
  stderr: string
}

const main = join(import.meta.dirname, '../../server/src/main.ts')

/**
 * The command without a process of its own: to start one costs many times what most commands do. Some of them are about all
 * apps.
 */
export async function parleyHere(words: string[], environment: Record<string, string>): Promise<Run> {
  let stdout = ''
  const say = (text: string) => {
    stdout += text
  }
  const { code, complaint = '' } = await acrossApps(() => obey(words, environment, say))
  return { code, stdout, stderr: complaint }
}

/** The command as a user runs it. */
export function parley(words: string[], environment: Record<string, string>): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...words], {
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...environment },
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk) => {
      stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    child.on('error', reject)
    child.on('exit', (code) => resolve({ code: code ?? -1, stdout, stderr }))
  })
}
