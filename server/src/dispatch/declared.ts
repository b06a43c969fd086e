import { receptionErrors } from '../areas/files/errors.ts'
import { permissionDenied } from '../areas/rbac/errors.ts'
import { userNotFound } from '../areas/users/errors.ts'
import { ApiError, badRequest, type ErrorDefinition, tooManyRequests } from '../kit/errors.ts'
import type { Operation } from '../kit/operation.ts'
import {
  apiKeyUnknown,
  apiNotFound,
  authTokenUnknown,
  bodyTooLarge,
  invalidAppId,
  noAccess,
  noApiKey,
  noAppId,
  noAuthToken,
  noManagementCredentials,
  tookTooLong,
  unavailable,
  unexpected,
} from './errors.ts'

/** Every failure an operation can meet, whichever way it is called: those of dispatching that apply to it, and its own. */
export function failuresOf(operation: Operation): ErrorDefinition[] {
  const { door, doors, keys, onBehalfOf, may, errors, method, takesFiles, mayTakeLong } = operation
  const doorErrors =
    door === 'management'
      ? [noManagementCredentials, apiKeyUnknown]
      : [noAppId, invalidAppId, noApiKey, apiKeyUnknown, noAuthToken, authTokenUnknown]
  return [
    ...doorErrors,
    ...(door === 'server' && !(keys.includes('authOnly') && doors.includes('client')) ? [noAccess] : []),
    tooManyRequests,
    apiNotFound,
    ...(method === 'GET' ? [] : [bodyTooLarge]),
    ...(onBehalfOf === 'unsupported' ? [] : [userNotFound]),
    badRequest,
    ...(may === undefined ? [] : [permissionDenied]),
    ...(takesFiles ? receptionErrors : []),
    ...errors,
    ...(mayTakeLong ? [tookTooLong] : []),
    unexpected,
    unavailable,
  ]
}

/** A failure that the operation does not declare is a fault of ours; where it is held to that, it is answered as one. */
export function heldToDeclaration(error: unknown, operation: Operation): unknown {
  if (!(error instanceof ApiError)) return error
  const declared = failuresOf(operation).some(({ code, status }) => code === error.code && status === error.status)
  return declared ? error : new Error(`${operation.id} does not declare ${error.code}.`, { cause: error })
}
