import { defineError } from '../../kit/errors.ts'

export const groupNotFound = defineError<{ guid: string }>(
  'ERR_GUID_NOT_FOUND',
  404,
  'there is no such group',
  ({ guid }) => `There is no group with the GUID ${guid}.`,
)
