import type { Allowance } from './limits.ts'

/** What a failure tells besides its sentence: field path -> sentences, or figures such as `retryAfter`. */
export type Details = Record<string, string[] | number>

/** A failure with a place in the catalogue. Anything else thrown is a fault of ours and is answered without its text. */
export class ApiError extends Error {
  readonly code: string
  readonly status: number
  readonly devMessage: string | undefined
  readonly details: Details | undefined
  /** Which one is used up; headers tell of it. */
  allowance?: Allowance

  constructor(code: string, status: number, message: string, devMessage?: string, details?: Details) {
    // An answer, not a fault: nobody reads its stack, and recording one is a tenth of a refused request's CPU.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'ApiError'
    this.code = code
    this.status = status
    this.devMessage = devMessage
    this.details = details
  }
}

export interface ErrorDefinition {
  code: string
  status: number
  /** When it is answered; for the generated documentation. */
  when: string
}

export type DefinedError<Facts> = ErrorDefinition & ((facts: Facts) => ApiError)

/** Declares one failure: its code, its status, when it happens and the sentence it is told in. */
export function defineError<Facts = void>(
  code: string,
  status: number,
  when: string,
  sentence: (facts: Facts) => string,
  details?: (facts: Facts) => Details,
): DefinedError<Facts> {
  const make = (facts: Facts) => new ApiError(code, status, sentence(facts), undefined, details?.(facts))
  return Object.assign(make, { code, status, when })
}

/** The caller's input does not fit. `details` names every field at fault, and `devMessage` lists them. */
export const badRequest = Object.assign(
  (details: Record<string, string[]>) => {
    const fields = Object.keys(details)
    const count = fields.length === 1 ? '1 field' : `${fields.length} fields`
    return new ApiError(
      'ERR_BAD_REQUEST',
      400,
      'Some of the values sent are not valid.',
      `${count} failed validation: ${fields.join(', ')}`,
      details,
    )
  },
  { code: 'ERR_BAD_REQUEST', status: 400, when: 'a value is missing or not valid; `details` names the fields' },
)

export const tooManyRequests = defineError<{ retryAfter: number }>(
  'ERR_TOO_MANY_REQUESTS',
  429,
  'the app, the acting user or what is acted on has used up its allowance',
  ({ retryAfter }) => `Too many requests; try again in ${retryAfter} s.`,
  ({ retryAfter }) => ({ retryAfter }),
)
