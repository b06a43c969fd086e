import { ApiError, defineError } from '../kit/errors.ts'

/** An id or a name that must be unique is another's. Clients that repeat a creation look for these words. */
export function alreadyTaken(field: string, what: string): ApiError {
  const details = { [field]: ['is taken'] }
  return new ApiError('ERR_BAD_REQUEST', 400, `${what} already exists.`, `1 field failed validation: ${field}`, details)
}

/** A countable limit of the install or of a record is reached. */
export const quotaReached = defineError<{ limit: string }>(
  'ERR_PLAN_QUOTA_RESTRICTION',
  402,
  'a countable limit is reached',
  ({ limit }) => `The limit of ${limit} is reached.`,
)
