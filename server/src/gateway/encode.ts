const finalText = 0x81
const twoByteLength = 126
const eightByteLength = 127
const oneByteMax = 125
const twoByteMax = 0xffff

/** A frame as it goes over the wire of a WebSocket: made once, however many devices it goes to. */
export function encode(frame: object): Buffer {
  return encodeText(JSON.stringify(frame))
}

export function encodeText(text: string): Buffer {
  const bytes = Buffer.byteLength(text)
  const head = headBytes(bytes)
  const buffer = Buffer.allocUnsafe(head + bytes)
  buffer[0] = finalText
  if (bytes <= oneByteMax) buffer[1] = bytes
  else if (bytes <= twoByteMax) {
    buffer[1] = twoByteLength
    buffer.writeUInt16BE(bytes, 2)
  } else {
    buffer[1] = eightByteLength
    buffer.writeBigUInt64BE(BigInt(bytes), 2)
  }
  buffer.write(text, head)
  return buffer
}

function headBytes(bytes: number): number {
  if (bytes <= oneByteMax) return 2
  return bytes <= twoByteMax ? 4 : 10
}
