/** What clients and servers share. */

export {
  type ErrorDetails,
  type ErrorKind,
  type KnownErrorCode,
  ParleyError,
  type ParleyErrorOf,
} from './http/errors.ts'
export type { Runtime } from './runtime/runtime.ts'
