import type { SmallPicture } from '../../kit/ports.ts'

/** What the server and the process that decodes agree on. */

/** What a picture may cost. */
export interface DecoderLimits {
  pixelsMax: number
  /** What it says that it will take; more is refused before it is decoded. */
  decodedBytesMax: number
  /** What the decoder takes all in all, as it sees itself; more ends it. */
  residentBytesMax: number
  workSecondsMax: number
  /** What the system lets a process have of its own. Node reserves some 600 MB of that without using them. */
  dataKilobytesMax: number
}

/** Bytes of a picture, which follow on those before; then what is to be made of all of them. */
export type Order = Uint8Array | { edgePixelsMax: number }

/** What came of a picture. `tooMuch` is a decoder's last word: its limits are used up. */
export type DecoderAnswer = 'ready' | { small: SmallPicture } | { refused: string } | 'tooMuch'
