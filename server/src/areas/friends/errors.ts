import { defineError } from '../../kit/errors.ts'

export const alreadyFriend = defineError<{ uid: string; friend: string }>(
  'ERR_ALREADY_FRIEND',
  409,
  'the two are friends already; told for each user of the list',
  ({ uid, friend }) => `${uid} and ${friend} are friends already.`,
)

export const selfRelation = defineError(
  'ERR_CANNOT_FORM_SELF_RELATION',
  403,
  'the list names the user itself; told for each user of the list',
  () => 'Nobody can be their own friend.',
)

export const tooManyFriends = defineError<{ uid: string; limit: number }>(
  'ERR_FAILED_TO_ADD_FRIEND',
  500,
  'one of the two has 1,000 friends; told for each user of the list',
  ({ uid, limit }) => `${uid} has ${limit} friends, and there can be no more.`,
)

export const notAFriend = defineError<{ uid: string }>(
  'ERR_NOT_A_FRIEND',
  404,
  'none of the users in the list is a friend',
  ({ uid }) => `None of these users is a friend of ${uid}.`,
)
