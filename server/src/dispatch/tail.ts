import type { FollowedEvent } from '../kit/follower.ts'

export interface TailedEvent extends FollowedEvent {
  appId: string
  /** The device that did it. */
  device: string | null
  /** Its payload, as the log keeps it. */
  kept: string
}

/**
 * The end of the log, as one node hears it: every event once and in order, from where the log ended when it was opened.
 * It has no lease, stores nothing and keeps nothing in memory; whoever must not miss anything across a restart follows the
 * log instead.
 */
export interface Tail {
  /** Where it begins, once it knows: whoever has subscribed by then hears of every event after it. */
  begun: Promise<number>
  /** The last event that was heard; nothing, while it has not begun. */
  position(): number | undefined
  /** For how long it has not heard all there was. */
  behindMilliseconds(): number
  /** Each event is heard at once and by all, so nobody may take long. Answers how to stop hearing. */
  subscribe(hear: (event: TailedEvent) => void): () => void
  close(): void
}
