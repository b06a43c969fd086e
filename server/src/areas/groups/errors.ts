import { defineError } from '../../kit/errors.ts'

interface InGroup {
  guid: string
}

interface UserInGroup extends InGroup {
  uid: string
}

export const groupNotFound = defineError<InGroup>(
  'ERR_GUID_NOT_FOUND',
  404,
  'there is no such group',
  ({ guid }) => `There is no group with the GUID ${guid}.`,
)

export const groupExists = defineError<InGroup>(
  'ERR_GUID_ALREADY_EXISTS',
  400,
  'the GUID is taken',
  ({ guid }) => `A group with the GUID ${guid} already exists.`,
)

export const passwordMissing = defineError(
  'ERR_EMPTY_GROUP_PASS',
  400,
  'a password group needs a password and none was sent',
  () => 'A group of this type needs a password.',
)

export const passwordWrong = defineError<InGroup>(
  'ERR_WRONG_GROUP_PASS',
  403,
  'the password is not that of the group',
  ({ guid }) => `This is not the password of the group ${guid}.`,
)

export const joiningNotAllowed = defineError<InGroup>(
  'ERR_GROUP_JOIN_NOT_ALLOWED',
  403,
  'the group is private: nobody joins by themselves',
  ({ guid }) => `The group ${guid} is private; its admins add members.`,
)

export const groupNotJoined = defineError<InGroup>(
  'ERR_GROUP_NOT_JOINED',
  403,
  'the acting user is not a member',
  ({ guid }) => `You are not a member of the group ${guid}.`,
)

export const bannedFromGroup = defineError<InGroup>(
  'ERR_BANNED_GROUPMEMBER',
  403,
  'the user is banned from the group',
  ({ guid }) => `The user is banned from the group ${guid}.`,
)

export const notAMember = defineError<UserInGroup>(
  'ERR_NOT_A_MEMBER',
  404,
  'the user is not a member of the group',
  ({ uid, guid }) => `${uid} is not a member of the group ${guid}.`,
)

export const alreadyJoined = defineError<UserInGroup>(
  'ERR_ALREADY_JOINED',
  409,
  'the user is a member already',
  ({ uid, guid }) => `${uid} has already joined the group ${guid}.`,
)

export const alreadyBanned = defineError<UserInGroup>(
  'ERR_ALREADY_BANNED',
  409,
  'the user is banned already',
  ({ uid, guid }) => `${uid} is already banned from the group ${guid}.`,
)

export const notBanned = defineError<UserInGroup>(
  'ERR_NOT_A_BANNED_USER',
  404,
  'the user is not banned',
  ({ uid, guid }) => `${uid} is not banned from the group ${guid}.`,
)

export const noVacancy = defineError<InGroup>(
  'ERR_NO_VACANCY',
  403,
  'the group is full',
  ({ guid }) => `The group ${guid} has no room for another member.`,
)

export const sameScope = defineError<UserInGroup & { scope: string }>(
  'ERR_SAME_SCOPE',
  403,
  'the new scope is the old one',
  ({ uid, guid, scope }) => `${uid} is ${scope} of the group ${guid} already.`,
)

export const noAdminScope = defineError<InGroup>(
  'ERR_GROUP_NO_ADMIN_SCOPE',
  403,
  'only admins may do this',
  ({ guid }) => `Only admins of the group ${guid} may do this.`,
)

export const noModeratorScope = defineError<InGroup>(
  'ERR_GROUP_NO_MODERATOR_SCOPE',
  403,
  'only moderators and admins may do this',
  ({ guid }) => `Only moderators and admins of the group ${guid} may do this.`,
)

export const noClearance = defineError<InGroup>(
  'ERR_GROUP_NO_CLEARANCE',
  403,
  "the acting user's scope is too low for this",
  ({ guid }) => `Your scope in the group ${guid} does not allow this.`,
)

export const noScopeClearance = defineError<InGroup>(
  'ERR_GROUP_NO_SCOPE_CLEARANCE',
  403,
  "this member's scope is not for the acting user to change",
  ({ guid }) => `This member's scope in the group ${guid} is not yours to change.`,
)

export const noSelfAction = defineError<InGroup>(
  'ERR_GROUP_NO_SELF_ACTION',
  403,
  'nobody does this to themselves',
  ({ guid }) => `You cannot do this to yourself in the group ${guid}.`,
)

export const notForClients = defineError(
  'AUTH_ERR_NO_ACCESS',
  403,
  'a client changes the type or the password of a group',
  () => 'The type and the password of a group are changed with an API key.',
)
