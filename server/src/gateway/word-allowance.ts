import { bucketsFor, createBucket } from '../plain/bucket.ts'

/** How much may be said that is never stored: each word keeps as many devices busy as hear it, and a node for each of them. */
export interface WordAllowance {
  /** Whether a user may say another word, by whichever of their devices. */
  mayAsk(appId: string, uid: string): boolean
  /** Whether it may be told to so many: `tooMuch` is what a user is told of, `lost` what too many others have used up. */
  take(appId: string, uid: string, hearers: number, bytes: number): 'told' | 'tooMuch' | 'lost'
}

const wordsPerSecond = 20
const wordsAtOnce = 60
const ofUserPerSecond = 1_000
const ofUserAtOnce = 5_000
// However many users there are: what one app says leaves room for the others, and all of it for what is stored. At once it is
// as much as one user may say in the largest words: whoever is alone loses none.
const ofAppPerSecond = 10_000
const ofAppAtOnce = 30_000
const inAllPerSecond = 30_000
const inAllAtOnce = 90_000
const bytesOfOne = 1_024

export function createWordAllowance(now?: () => number): WordAllowance {
  const wordsOf = bucketsFor(wordsPerSecond, wordsAtOnce, now)
  const ofUser = bucketsFor(ofUserPerSecond, ofUserAtOnce, now)
  const ofApp = bucketsFor(ofAppPerSecond, ofAppAtOnce, now)
  const inAll = createBucket(inAllPerSecond, inAllAtOnce, now)
  return {
    mayAsk: (appId, uid) => wordsOf(appId, uid).take(1),
    take(appId, uid, hearers, bytes) {
      if (!ofUser(appId, uid).take(hearers)) return 'tooMuch'
      const weight = hearers * (1 + Math.floor(bytes / bytesOfOne))
      return ofApp(appId).take(weight) && inAll.take(weight) ? 'told' : 'lost'
    },
  }
}
