import { Metadata, MetadataInput } from '../../common/metadata.ts'
import { listQuery } from '../../common/page.ts'
import { Clearable, FilledText, Id, NeverEmpty, OneOf, Seconds, type Static, Text, Type } from '../../kit/schema.ts'

const nameCharactersMax = 100
const descriptionCharactersMax = 255

/** The role of everyone who has no other. */
export const defaultRole = 'default'

/** How a role's id looks, in a path or a body; it is stored in lower case. */
export const RoleId = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,100}$',
  description: "The role's unique id",
  examples: ['tutor'],
})

const whom = ['all', 'friendsOnly'] as const

export const RoleSettings = Type.Object(
  {
    listUsers: Type.Optional(OneOf(whom, 'Whom users of this role see in lists of users')),
    sendMessagesTo: Type.Optional(OneOf(whom, 'Whom users of this role may send direct messages to')),
  },
  { description: 'What users of this role may do' },
)
export type RoleSettings = Static<typeof RoleSettings>

export const Role = Type.Object(
  {
    role: RoleId,
    name: Type.String({ description: 'Shown to people', examples: ['Tutor'] }),
    description: Type.Optional(Type.String({ description: 'What the role is for', examples: ['Leads study groups'] })),
    metadata: Type.Optional(Metadata),
    settings: Type.Optional(RoleSettings),
    createdAt: Seconds('When it was created'),
    updatedAt: Type.Optional(Seconds('When it was last changed')),
  },
  { title: 'Role' },
)
export type Role = Static<typeof Role>

const changeable = {
  name: NeverEmpty(FilledText(nameCharactersMax, 'Shown to people')),
  description: Type.Optional(Clearable(Text(descriptionCharactersMax, 'What the role is for'))),
  metadata: Type.Optional(MetadataInput()),
  settings: Type.Optional(RoleSettings),
}

export const RoleCreate = Type.Object(
  { role: Id(RoleId), ...changeable },
  { examples: [{ role: 'tutor', name: 'Tutor', settings: { sendMessagesTo: 'friendsOnly' } }] },
)
export type RoleCreate = Static<typeof RoleCreate>

export const RoleUpdate = Type.Object(
  {
    ...changeable,
    name: Type.Optional(changeable.name),
    unset: Type.Optional(
      Type.Array(OneOf(['settings', 'description', 'metadata']), {
        description: 'What to remove; wins over a value in the same request',
      }),
    ),
  },
  { examples: [{ name: 'Lead tutor' }] },
)
export type RoleUpdate = Static<typeof RoleUpdate>

export const RoleListQuery = listQuery({})
export type RoleListQuery = Static<typeof RoleListQuery>
