import { listQuery } from '../../common/page.ts'
import { FilledText, Id, OneOf, type Static, Type } from '../../kit/schema.ts'
import { searchFields } from '../users/schemas.ts'

const uidCharactersMax = 10_000

/** So many may be blocked by a user: whoever lists messages leaves out all of them. */
export const blocksMax = 1_000

const blockedUids = (description: string) =>
  Type.Array(Id(FilledText(uidCharactersMax)), { minItems: 1, description, examples: [['milo']] })

export const UsersBlock = Type.Object(
  { blockedUids: blockedUids('Whom to block') },
  { examples: [{ blockedUids: ['milo'] }] },
)

export const UsersUnblock = Type.Object(
  { blockedUids: blockedUids('Whom to unblock') },
  { examples: [{ blockedUids: ['milo'] }] },
)

export const Direction = OneOf(
  ['blockedByMe', 'hasBlockedMe', 'both'],
  'Whose block counts: `blockedByMe` unless said otherwise, and `both` for a client',
)
export type Direction = Static<typeof Direction>

export const BlockListQuery = listQuery({
  searchKey: searchFields.searchKey,
  direction: Type.Optional(Direction),
})
export type BlockListQuery = Static<typeof BlockListQuery>
