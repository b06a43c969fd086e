import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { until } from '../../../tests/support/until.ts'
import { noCounts } from '../dispatch/live-figures.ts'
import { openLine, openPost } from './line.ts'
import { unhurried } from './unhurried.ts'

const kilobyte = 1024

/** A device that takes what it is sent when the test says so. */
function slowDevice() {
  const taken: number[] = []
  const socket = {
    untaken: [] as Buffer[],
    get writableLength() {
      return this.untaken.reduce((sum, { length }) => sum + length, 0)
    },
    write: (bytes: Buffer) => void socket.untaken.push(bytes),
    on() {},
    off() {},
  }
  const device = {
    ...{ readyState: 1, OPEN: 1, terminate() {} },
    close() {
      device.readyState = 3
    },
  }
  const line = openLine(device as never, socket as never, openPost(), noCounts())
  const take = () => {
    for (const bytes of socket.untaken.splice(0)) {
      for (let at = 0; at < bytes.length; at += 10 * kilobyte) taken.push(bytes.readUInt32BE(at))
    }
  }
  return { taken, line, take }
}

function frameOf(n: number): Buffer {
  const frame = Buffer.alloc(10 * kilobyte)
  frame.writeUInt32BE(n)
  return frame
}

describe('what is sent as it is taken', () => {
  it('reaches a device whole and in order, however much comes at once', async () => {
    const { taken, line, take } = slowDevice()
    const send = unhurried(line)
    for (let n = 0; n < 300; n += 1) send(frameOf(n))
    await until('something is written', () => line.untakenBytes() > 0)
    for (let n = 300; n < 310; n += 1) send(frameOf(n))
    await until('all of it is taken', () => {
      take()
      return taken.length === 310
    })
    assert.ok(line.isOpen())
    assert.deepEqual(
      taken,
      Array.from({ length: 310 }, (_, n) => n),
    )
    send(frameOf(310))
    await nextTurn()
    take()
    assert.equal(taken.at(-1), 310)
  })

  it('leaves room for what else the device is sent', () => {
    const { line } = slowDevice()
    const send = unhurried(line)
    for (let n = 0; n < 300; n += 1) send(frameOf(n))
    assert.deepEqual([line.isOpen(), line.untakenBytes() < 300 * kilobyte], [true, true])
  })

  it('is not kept for a device that is far behind: it is let go', () => {
    const { line } = slowDevice()
    const send = unhurried(line)
    for (let n = 0; n < 1_000; n += 1) send(frameOf(n))
    assert.equal(line.isOpen(), false)
  })
})
