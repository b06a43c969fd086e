import { defineError } from '../../kit/errors.ts'

export const appNotFound = defineError<{ appId: string }>(
  'ERR_APP_NOT_FOUND',
  404,
  'the app is unknown, or of another account',
  ({ appId }) => `There is no app with the id ${appId}.`,
)

export const appArchived = defineError<{ appId: string }>(
  'ERR_APP_ARCHIVED',
  409,
  'the app waits for its deletion',
  ({ appId }) => `The app ${appId} is archived and will be deleted.`,
)

export const appLimitReached = defineError<{ max: number }>(
  'ERR_APP_CREATION_FAILED_MAX_LIMIT',
  403,
  'the account has as many apps as this install allows',
  ({ max }) => `This account may have ${max} apps and has them all.`,
)
