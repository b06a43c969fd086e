/** How long the reply to a write is kept for a request that is sent again. */
export const replyKeptSeconds = 24 * 3600

/** Under which name the replies to a user's client are kept. */
export function repliesToUser(uid: string): string {
  return `user ${uid}`
}
