/** Why a connection is closed, as clients are told. */
export const closeCodes = {
  /** The node is leaving: come back when the last frame says. */
  leaving: 1012,
  /** Something that is needed is away. */
  tryAgainLater: 1013,
  /** No, unknown, deleted or foreign token, or a user who is gone. */
  notWelcome: 4401,
  /** Nothing was said for too long. */
  silent: 4408,
  /** The user has too many connections, and this was the oldest. */
  replaced: 4409,
  frameTooLarge: 4413,
  tooMuch: 4429,
  /** What was sent was not taken: come back and resume. */
  tooSlow: 4503,
} as const
