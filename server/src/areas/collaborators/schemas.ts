import { ManagementOutcome, ManagementOutcomes } from '../../common/each.ts'
import { listQuery } from '../../common/page.ts'
import { FilledText, OneOf, Seconds, type Static, Type } from '../../kit/schema.ts'

// The longest address that mail can be sent to.
const addressCharactersMax = 254
const addressesMax = 100

export const TeamRole = OneOf(['admin', 'developer', 'moderator'], 'What they are in the team')
export type TeamRole = Static<typeof TeamRole>

export const Collaborator = Type.Object(
  {
    id: Type.String({ description: '16 hexadecimal characters', examples: ['b1946ac92492d234'] }),
    name: Type.String({
      description: 'The name of the account; the address, until there is one',
      examples: ['Ana Sol'],
    }),
    email: Type.String({ description: 'The address, in lower case', examples: ['ana@acme.example'] }),
    role: TeamRole,
    createdAt: Seconds('When they were added'),
  },
  { title: 'Collaborator' },
)
export type Collaborator = Static<typeof Collaborator>

const Addresses = (description: string) =>
  Type.Optional(
    Type.Array(FilledText(addressCharactersMax), {
      maxItems: addressesMax,
      description,
      examples: [['ana@acme.example']],
    }),
  )

/** The lists of a request; where several name an address, the first of them counts. */
const lists = {
  admins: Addresses('E-mail addresses of admins to be'),
  developers: Addresses('E-mail addresses of developers to be'),
  moderators: Addresses('E-mail addresses of moderators to be'),
  collaboratorsToRemove: Addresses('E-mail addresses of those who are to go'),
}

export type ListName = keyof typeof lists
export const listNames = Object.keys(lists) as ListName[]

export const TeamChange = Type.Refine(
  Type.Object(lists, { examples: [{ admins: ['ana@acme.example'], moderators: ['ben@acme.example'] }] }),
  (sent) => listNames.some((name) => (sent[name] ?? []).length > 0),
  () => 'must name at least one address',
)
export type TeamChange = Static<typeof TeamChange>

const [added, failed] = ManagementOutcome.anyOf

const Additions = Type.Record(
  Type.String(),
  Type.Union([
    Type.Object({
      ...added.properties,
      inviteUrl: Type.Optional(
        Type.String({
          description: 'Where there is no account with the address: the link to pass on to them, told this once',
          examples: ['https://apimgmt.example.org/invitations/Jt3vXk0Zp1c5m8yQeUu2bR7hWnD4sLfA6gTiOoKxYzE'],
        }),
      ),
    }),
    failed,
  ]),
)

/** One outcome for each address of each list. */
export const TeamOutcomes = Type.Object(
  { admins: Additions, developers: Additions, moderators: Additions, collaboratorsToRemove: ManagementOutcomes },
  { title: 'TeamOutcomes' },
)
export type TeamOutcomes = Static<typeof TeamOutcomes>

export const CollaboratorListQuery = listQuery({})
