import { write, writeSync } from 'node:fs'

/**
 * Lines of a log, written in batches. A log that cannot be written, because its disk is full or nobody reads it, must
 * neither end the server nor hold it up nor take its memory: lines are lost then, and once it can be written again the log
 * says how many.
 */
export interface LogLines {
  write(line: string): void
  /** Writes what waits, as far as that is possible at once. */
  close(): void
}

const batchMilliseconds = 300
const batchCharacters = 8_192
const waitingCharactersMax = 1_000_000
const againMilliseconds = 50

export function logLines(descriptor: number): LogLines {
  let waiting = ''
  let underWay: Buffer | undefined
  let lost = 0
  const timer = setInterval(begin, batchMilliseconds).unref()

  function begin(): void {
    if (underWay || waiting === '') return
    underWay = takeWaiting()
    goOn()
  }

  function takeWaiting(): Buffer {
    const note = lost === 0 ? '' : `{"level":40,"msg":"${lost} lines of this log were lost"}\n`
    const batch = Buffer.from(note + waiting)
    waiting = ''
    lost = 0
    return batch
  }

  function goOn(): void {
    if (!underWay) return
    write(descriptor, underWay, 0, underWay.length, null, (error, written) => {
      if (error?.code === 'EAGAIN') return void setTimeout(goOn, againMilliseconds).unref()
      if (error) lost += linesIn(underWay)
      const rest = error ? undefined : underWay?.subarray(written)
      underWay = rest?.length ? rest : undefined
      if (underWay) goOn()
      else if (waiting.length >= batchCharacters && !error) begin()
    })
  }

  return {
    write(line) {
      if (waiting.length > waitingCharactersMax) lost += 1
      else waiting += line
      if (waiting.length >= batchCharacters) begin()
    },
    close() {
      clearInterval(timer)
      try {
        writeSync(descriptor, Buffer.concat([underWay ?? Buffer.alloc(0), takeWaiting()]))
      } catch {
        // There is nowhere left to say so.
      }
    },
  }
}

function linesIn(batch: Buffer | undefined): number {
  return batch ? batch.toString('latin1').split('\n').length - 1 : 0
}
