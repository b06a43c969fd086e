import { defineError } from '../../kit/errors.ts'

export const permissionDenied = defineError(
  'ERR_PERMISSION_DENIED',
  403,
  'a permission, a setting or a restricted feature of the acting user’s role, or of their scope, denies it',
  () => 'The acting user may not do this.',
)
