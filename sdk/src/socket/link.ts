import type { Runtime } from '../runtime/runtime.ts'
import { type Frame, frameIn } from './frame.ts'

/** One connection, from its opening to its loss. */
export interface Link {
  send(frame: object): void
  /** Asks for a sign of life now: whoever has slept may have lost the connection long ago. */
  probe(): void
  /** Goes; nothing is heard any more, and it is not told as a loss. */
  close(): void
}

interface Hearing {
  frame(frame: Frame): void
  /** Told once: closed with a code, or with none where nothing was answered any more. */
  lost(code: number | undefined): void
}

const probeEveryMs = 25_000
const answerWithinMs = 5_000
// Whoever has slept finds it out by a timer that is late; a page that was visible all the while is not told otherwise.
const lookEveryMs = 10_000
const lateMs = 10_000
// The first answer may need a look at the log.
const welcomeWithinMs = 15_000

/** Throws what the runtime throws where there are no WebSockets. */
export function openLink(url: string, hello: object, hearing: Hearing, runtime: Runtime): Link {
  const Socket = runtime.webSocket()
  const socket = new Socket(url)
  let isOpen = false
  let isOver = false
  let callOffProbe = () => {}
  let callOffLook = () => {}
  let callOffLoss = runtime.after(welcomeWithinMs, () => lose(undefined))

  function end(): void {
    isOver = true
    isOpen = false
    callOffProbe()
    callOffLook()
    callOffLoss()
    socket.close()
  }

  function lose(code: number | undefined): void {
    if (isOver) return
    end()
    hearing.lost(code)
  }

  function send(frame: object): void {
    if (isOpen) socket.send(JSON.stringify(frame))
  }

  function probe(): void {
    if (!isOpen) return
    callOffLoss()
    callOffLoss = runtime.after(answerWithinMs, () => lose(undefined))
    send({ type: 'ping' })
  }

  function probeLater(): void {
    callOffProbe()
    callOffProbe = runtime.after(probeEveryMs, probe)
  }

  function lookLater(): void {
    const dueAt = runtime.wallClock() + lookEveryMs
    callOffLook = runtime.after(lookEveryMs, () => {
      if (runtime.wallClock() - dueAt >= lateMs) probe()
      lookLater()
    })
  }

  socket.addEventListener('open', () => {
    if (isOver) return
    isOpen = true
    lookLater()
    send({ type: 'auth', body: hello })
  })
  socket.addEventListener('message', (event) => {
    if (isOver) return
    callOffLoss()
    probeLater()
    const frame = frameIn((event as { data: unknown }).data)
    if (frame && frame.type !== 'pong') hearing.frame(frame)
  })
  // What went wrong is told by the close that follows, if at all.
  socket.addEventListener('error', () => {})
  socket.addEventListener('close', (event) => lose((event as { code: number }).code))
  return {
    send,
    probe,
    close: () => {
      if (!isOver) end()
    },
  }
}
