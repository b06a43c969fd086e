/** Every operation, each by itself: what is not imported is left out by bundlers. */

export type { ErrorCode } from './generated/error-codes.ts'
export type { EventPayloads } from './generated/events.ts'
export * from './generated/operations.ts'
export type * from './generated/records.ts'
export type * from './operation.ts'
