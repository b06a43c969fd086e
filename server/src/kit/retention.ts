/** How long the reply to a write is kept for a request that is sent again. */
export const replyKeptSeconds = 24 * 3600
