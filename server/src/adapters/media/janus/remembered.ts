import { mkdirSync, readFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { MediaKind, RoomSpec, VideoWish } from '../../../common/media.ts'

/**
 * What a server that comes after this one has to know to go on with its calls: which processes there are, and what is in
 * them. What it does not know of, such as a join in the moment of a kill, ends by itself half a minute later.
 */
export interface Remembered {
  events: { port: number; path: string }
  processes: RememberedProcess[]
}

export interface RememberedProcess {
  node: string
  pid: number
  folder: string
  apiPort: number
  apiSecret: string
  adminKey: string
  /** The settings it was started with. */
  startedWith: string
  rooms: RememberedRoom[]
}

export interface RememberedRoom {
  spec: RoomSpec
  devices: RememberedDevice[]
}

export interface RememberedDevice {
  device: string
  visit: number
  mayPublish: boolean
  session: number
  sender: number
  /** Proves to the room that whoever receives is the one who joined. */
  privateId: unknown
  receiver: number | undefined
  /** How many connections for receiving it has had. */
  connection: number
  /** The last offer for it was not answered yet. */
  isOffered: boolean
  /** What it sends, by mid. */
  sends: Record<string, SentStream>
  isSending: boolean
  /** The streams that the engine gets from it just now, by mid. */
  arriving: Record<string, MediaKind>
  isSpeaking: boolean
  /** What it gets, by the mid it has for the device. */
  receives: Record<string, { device: string; visit: number; mid: string }>
  wishes: VideoWish[] | undefined
  muted: MediaKind[]
}

export interface SentStream {
  media: MediaKind
  label: string
  isSimulcast: boolean
}

const file = 'engine.json'
const ownerOnlyFolder = 0o700
const ownerOnlyFile = 0o600
// Several changes that follow each other are written together.
const gatherMilliseconds = 20

export function readRemembered(folder: string): Remembered | undefined {
  try {
    const { events, processes }: Remembered = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    return Number.isInteger(events.port) && Array.isArray(processes) ? { events, processes } : undefined
  } catch {
    // Nothing was remembered, or nothing that can be read: calls that are under way are lost then.
    return undefined
  }
}

export interface EngineMemory {
  /** Something of it has changed. */
  save(): void
  /** Waits until all that was to be saved is on the disk. */
  saved(): Promise<void>
}

export function memoryIn(folder: string, what: () => Remembered, onTrouble: (error: unknown) => void): EngineMemory {
  let isDirty = false
  let writing: Promise<void> | undefined

  async function writeAll(): Promise<void> {
    while (isDirty) {
      await pause(gatherMilliseconds)
      isDirty = false
      await writeDurably(folder, JSON.stringify(what())).catch(onTrouble)
    }
    writing = undefined
  }

  return {
    save() {
      isDirty = true
      writing ??= writeAll()
    },
    saved: async () => writing,
  }
}

/** Whoever reads it finds all of it or all of what was there before, also after a power cut. */
async function writeDurably(folder: string, text: string): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: ownerOnlyFolder })
  const path = join(folder, file)
  const handle = await open(`${path}.new`, 'w', ownerOnlyFile)
  try {
    await handle.writeFile(text)
    await handle.datasync()
  } finally {
    await handle.close()
  }
  await rename(`${path}.new`, path)
}
