import { defineError } from '../../kit/errors.ts'

export const alreadyAnOwner = defineError<{ address: string }>(
  'ERR_ALREADY_AN_OWNER',
  409,
  'the address to be added is that of the owner of the app',
  ({ address }) => `${address} already owns the app and cannot be a collaborator too.`,
)

export const selfActionDenied = defineError<{ address: string }>(
  'ERR_SELF_ACTION_DENIED',
  403,
  'the address to be added is that of the account that asks, and the app is not its own',
  ({ address }) => `${address} is your own address; nobody can add themself.`,
)

export const notACollaborator = defineError<{ address: string }>(
  'ERR_NOT_A_COLLABORATOR',
  404,
  'the address to be removed is no collaborator of the app',
  ({ address }) => `${address} is not a collaborator of this app.`,
)
