import { spawn } from 'node:child_process'
import { join } from 'node:path'

/** The parley command as a user runs it, in a process of its own. */
export interface Run {
  code: number
  stdout: string
  stderr: string
}

const main = join(import.meta.dirname, '../../server/src/main.ts')

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
