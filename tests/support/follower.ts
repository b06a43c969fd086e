import type { Device, Frame } from './device.ts'

/**
 * A device that is cut off and comes back, and what it holds by then of what it was told. Beside it stands a twin: a device
 * of the same user that was never cut off. What the one has missed and what the other was told cannot differ.
 */
export interface Follower {
  uid: string
  /** Its own words begin with it; it is not told them. */
  name: string
  isThere(): boolean
  device(): Device
  /** Logs in, or goes on where it was cut off. */
  come(): Promise<void>
  cut(): void
  /** What it holds since it last had to begin anew. */
  told(): Frame[]
  /** What is wrong with what it holds; nothing, if it is what the twin was told. */
  differsFrom(twin: Device, isRetracted: (messageId: string) => boolean): string | undefined
  resumed: number
  resynced: number
}

/** What a device holds since it last had to begin anew. */
interface Copy {
  from: number
  /** Told over earlier connections. */
  earlier: Frame[]
  /** Between which events it was told what it had missed: what was taken back meanwhile is left out there. */
  replays: { after: number; upTo: number }[]
  checked: number
  twinChecked: number | undefined
}

export const idAt = (position: string) => Number(position.split('.')[0])

export const isStored = ({ position, type }: Frame) => position !== undefined && type !== 'auth'

export function createFollower(name: string, uid: string, logIn: (auth: object) => Promise<Device>): Follower {
  const copies: Copy[] = []
  let device: Device | undefined
  let resource: string | undefined
  let position: string | undefined

  function toldIn(copy: Copy): Frame[] {
    const isCurrent = copy === copies.at(-1)
    return isCurrent && device ? [...copy.earlier, ...device.frames.filter(isStored)] : copy.earlier
  }

  /** The last replay ended before the first event that was told live. */
  function boundReplay({ replays }: Copy, { frames }: Device): void {
    const replay = replays.at(-1)
    const caughtUp = frames.findIndex(({ type }) => type === 'caught_up')
    const live = caughtUp < 0 ? undefined : frames.slice(caughtUp).find(isStored)
    if (replay && live) replay.upTo = idAt(live.position)
  }

  /** Reads on where the last look ended. */
  function compare(copy: Copy, twin: Frame[], isRetracted: (messageId: string) => boolean): string | undefined {
    const isCurrent = copy === copies.at(-1)
    if (isCurrent && device) boundReplay(copy, device)
    const told = toldIn(copy)
    const isExcused = (frame: Frame) => isOwnWord(frame) || isTakenBack(copy, frame, isRetracted)
    if (copy.twinChecked === undefined) {
      const first = twin.findIndex((frame) => idAt(frame.position) > copy.from)
      if (first < 0) return told.length === 0 ? undefined : 'its twin was told nothing'
      copy.twinChecked = first
    }
    for (; copy.checked < told.length; copy.checked += 1) {
      const text = JSON.stringify(told[copy.checked])
      while (copy.twinChecked < twin.length && JSON.stringify(twin[copy.twinChecked]) !== text) {
        if (!isExcused(twin[copy.twinChecked])) return `was told ${text}, its twin ${inShort(twin[copy.twinChecked])}`
        copy.twinChecked += 1
      }
      if (copy.twinChecked >= twin.length) return `was told ${text}, and its twin was not`
      copy.twinChecked += 1
    }
    const missed = isCurrent && device ? twin.slice(copy.twinChecked).find((frame) => !isExcused(frame)) : undefined
    return missed && `was not told ${inShort(missed)}`
  }

  const isOwnWord = ({ type, body }: Frame) =>
    type === 'message' && body.category === 'message' && body.data.text?.startsWith(`${name} `)

  function isTakenBack({ replays }: Copy, frame: Frame, isRetracted: (messageId: string) => boolean): boolean {
    const id = idAt(frame.position)
    const wasReplayed = replays.some(({ after, upTo }) => after < id && id < upTo)
    return wasReplayed && messagesIn(frame).some(isRetracted)
  }

  const follower: Follower = {
    ...{ name, uid, resumed: 0, resynced: 0 },
    isThere: () => device !== undefined,
    device() {
      if (!device) throw new Error(`${name} is not there.`)
      return device
    },
    async come() {
      device = await logIn({ ...(position && { position, resource }) })
      const { welcome } = device
      if (position && welcome.resumed) {
        follower.resumed += 1
        copies.at(-1)?.replays.push({ after: idAt(position), upTo: Number.POSITIVE_INFINITY })
      } else {
        if (position) follower.resynced += 1
        const from = idAt(welcome.position)
        copies.push({ from, earlier: [], replays: [], checked: 0, twinChecked: undefined })
      }
      resource = welcome.resource
    },
    cut() {
      const copy = copies.at(-1)
      if (!device || !copy) return
      device.cut()
      boundReplay(copy, device)
      position = device.position()
      const replay = copy.replays.at(-1)
      if (replay) replay.upTo = Math.min(replay.upTo, idAt(position))
      copy.earlier = toldIn(copy)
      device = undefined
    },
    told: () => copies.slice(-1).flatMap(toldIn),
    differsFrom(twin, isRetracted) {
      const told = twin.frames.filter(isStored)
      const wrong = copies.map((copy) => compare(copy, told, isRetracted)).find((each) => each !== undefined)
      return wrong && `${name} of ${uid} ${wrong}`
    },
  }
  return follower
}

/** The messages whose content a frame has. */
function messagesIn({ type, body }: Frame): string[] {
  if (type === 'message') return [body.id, body.data.entities?.on?.entity?.id].filter((id) => id !== undefined)
  return body.message?.id === undefined ? [] : [body.message.id]
}

const inShort = (frame: Frame) => JSON.stringify(frame)
