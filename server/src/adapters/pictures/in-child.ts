import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import type { Pictures, SmallPicture } from '../../kit/ports.ts'
import { within } from '../../plain/time-limit.ts'
import type { DecoderAnswer, DecoderLimits, Order } from './messages.ts'

const decoderFile = join(import.meta.dirname, 'decoder.ts')
const startMilliseconds = 30_000
const readMilliseconds = 30_000
// The decoder counts its own work and gives up earlier; this is for one that cannot.
const decodeMilliseconds = 15_000
const ordinaryIdleMilliseconds = 30_000
const triesMax = 2
const complaintCharactersMax = 1_000

const ordinaryLimits: DecoderLimits = {
  pixelsMax: 50_000_000,
  decodedBytesMax: 320_000_000,
  residentBytesMax: 640_000_000,
  workSecondsMax: 8,
  // The decoder looks at itself now and then; this is for what grows between two looks.
  dataKilobytesMax: 1_500_000,
}
const nodeFlags = ['--disable-warning=ExperimentalWarning', '--max-old-space-size=64']
// Nothing of the server's environment, which holds its secrets. One heap returns more of what it was lent than many.
const environment = { MALLOC_ARENA_MAX: '1', UV_THREADPOOL_SIZE: '2' }

/**
 * Pictures are decoded in a child process, one at a time. It is started with the first and ended when there has been none
 * for a while. One that dies is replaced; a picture that two of them died of is given up.
 */
export function picturesInChild(
  onTrouble: (error: unknown) => void,
  { limits = ordinaryLimits, idleMilliseconds = ordinaryIdleMilliseconds } = {},
): Pictures {
  let decoder: Decoder | undefined
  let idle: NodeJS.Timeout | undefined
  let isClosed = false
  let turn: Promise<unknown> = Promise.resolve()

  async function workingDecoder(): Promise<Decoder> {
    if (decoder?.isAlive()) return decoder
    const started = await startDecoder(limits)
    decoder = started
    if (isClosed) end()
    return started
  }

  function end(): void {
    decoder?.end()
    decoder = undefined
  }

  async function shrink(...[read, edgePixelsMax]: Parameters<Pictures['shrink']>) {
    clearTimeout(idle)
    try {
      for (let tries = 1; ; tries += 1) {
        const working = await workingDecoder()
        const content = await read()
        if (!content) return undefined
        const outcome = await working.decode(content, edgePixelsMax)
        // Nobody waits for an answer any more, and the next server makes the picture.
        if (isClosed) return new Promise<undefined>(() => {})
        if (outcome !== 'died') return outcome
        end()
        onTrouble(new Error(`The decoder died of a picture, ${working.lastWords()}.`))
        if (tries === triesMax) return undefined
      }
    } finally {
      idle = setTimeout(end, idleMilliseconds).unref()
    }
  }

  return {
    shrink(...asked) {
      const mine = turn.then(() => shrink(...asked))
      turn = mine.catch(() => {})
      return mine
    },
    async close() {
      isClosed = true
      clearTimeout(idle)
      end()
    },
  }
}

interface Decoder {
  isAlive(): boolean
  /** The picture made small; nothing, if it is refused. */
  decode(content: Readable, edgePixelsMax: number): Promise<SmallPicture | undefined | 'died'>
  /** How it ended. */
  lastWords(): string
  end(): void
}

async function startDecoder(limits: DecoderLimits): Promise<Decoder> {
  const child = forked(limits)
  const lastWords = listenTo(child)
  let heard: (answer: DecoderAnswer | 'died') => void = () => {}
  const nextAnswer = () =>
    new Promise<DecoderAnswer | 'died'>((resolve) => {
      heard = resolve
    })
  child.on('message', (answer: DecoderAnswer) => heard(answer))
  // Not before all that it said has been heard.
  child.on('disconnect', () => heard('died'))
  child.on('error', () => heard('died'))
  const end = () => void child.kill('SIGKILL')

  const isAlive = () => child.connected && !child.killed
  const first = await within(startMilliseconds, nextAnswer(), () => 'died' as const)
  if (first !== 'ready') {
    end()
    throw new Error(`The decoder of pictures did not start, ${lastWords()}.`)
  }

  async function decode(content: Readable, edgePixelsMax: number) {
    const answered = nextAnswer()
    try {
      for await (const chunk of addAbortSignal(AbortSignal.timeout(readMilliseconds), content)) {
        if (!(await tell(child, chunk))) return 'died'
      }
    } catch (error) {
      // What it was told so far is the beginning of nothing.
      end()
      throw error
    }
    if (!(await tell(child, { edgePixelsMax }))) return 'died'
    const answer = await within(decodeMilliseconds, answered, () => 'tooMuch' as const)
    if (answer === 'tooMuch') end()
    if (answer === 'died') return 'died'
    return typeof answer === 'object' && 'small' in answer ? answer.small : undefined
  }

  return { isAlive, decode, lastWords, end }
}

/** Where there is a shell, it sets a limit that the system holds the decoder to. */
function forked(limits: DecoderLimits): ChildProcess {
  const limited = `ulimit -d ${limits.dataKilobytesMax} 2>/dev/null; exec "$0" "$@"`
  const [execPath, execArgv] =
    process.platform === 'win32'
      ? [process.execPath, nodeFlags]
      : ['/bin/sh', ['-c', limited, process.execPath, ...nodeFlags]]
  return fork(decoderFile, [JSON.stringify(limits)], {
    execPath,
    execArgv,
    env: environment,
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
}

/** Hears what it complains of, for whoever has to find out why it ended. */
function listenTo(child: ChildProcess): () => string {
  let complaints = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaints = (complaints + text).slice(-complaintCharactersMax)
  })
  return () => {
    const { exitCode, signalCode } = child
    return `exit code ${exitCode}, signal ${signalCode}${complaints === '' ? '' : `: ${complaints.trim()}`}`
  }
}

/** Answers whether it can be told anything, and waits until it has taken that. */
function tell(child: ChildProcess, order: Order): Promise<boolean> {
  return new Promise((resolve) => {
    child.send(order, (error) => resolve(!error))
  })
}
