import type { Line } from './line.ts'

// Devices wait for the same frames, so many that are behind take hardly more than one.
const waitingBytesMax = 8 * 1024 * 1024

/**
 * A way to send what must not be missed and can be very much at once, such as who goes when a network fails: as a device
 * takes it, because a device that was given more than it can take in a moment looks like one that takes nothing. Whoever
 * stays behind is let go.
 */
export function unhurried(line: Pick<Line, 'hasRoom' | 'letGo' | 'room' | 'send'>): (frame: Buffer) => void {
  const waiting: Buffer[] = []
  let waitingBytes = 0

  async function sendWaiting(): Promise<void> {
    while (waiting.length > 0 && (await line.room())) {
      let sent = 0
      for (; sent < waiting.length && line.hasRoom(); sent += 1) line.send(waiting[sent] as Buffer)
      for (const { length } of waiting.splice(0, sent)) waitingBytes -= length
    }
    waiting.length = 0
    waitingBytes = 0
  }

  return (frame) => {
    if (waiting.length === 0 && line.hasRoom()) return line.send(frame)
    waiting.push(frame)
    waitingBytes += frame.length
    if (waitingBytes > waitingBytesMax) line.letGo()
    if (waiting.length === 1) void sendWaiting()
  }
}
