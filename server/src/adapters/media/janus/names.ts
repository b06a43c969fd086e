/**
 * Names as the engine may have them: they end up in names of files, so anything but a few characters is written as the
 * hexadecimal digits of its bytes.
 */
export function engineName(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `~${byte.toString(16).padStart(2, '0')}`).join(''),
  )
}

export function nameBehind(name: string): string {
  const bytes = name.replace(/~([0-9a-f]{2})|[^~]/g, (part, hex) => hex ?? Buffer.from(part).toString('hex'))
  return Buffer.from(bytes, 'hex').toString()
}

/** A device that joins again is somebody new to the engine, so that nothing late of its former self is taken for it. */
export interface RoomVisit {
  device: string
  number: number
}

export const visitName = ({ device, number }: RoomVisit) => `${engineName(device)}.${number}`

export function visitBehind(name: string): RoomVisit | undefined {
  const [, device, number] = /^(.*)\.(\d+)$/.exec(name) ?? []
  return device === undefined ? undefined : { device: nameBehind(device), number: Number(number) }
}

/** What the engine tells of a connection carries only this. */
export const opaqueName = (room: string, visit: string) => `${engineName(room)}/${visit}`

export function opaqueBehind(name: string): { room: string; visit: RoomVisit } | undefined {
  const [room = '', visitPart = ''] = name.split('/')
  const visit = visitBehind(visitPart)
  return visit && { room: nameBehind(room), visit }
}
