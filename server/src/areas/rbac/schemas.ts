import { ItemOutcome } from '../../common/each.ts'
import { listQuery } from '../../common/page.ts'
import { OneOf, Seconds, type Static, Type } from '../../kit/schema.ts'

const Value = (description: string) =>
  Type.Union([Type.String(), Type.Array(Type.String())], { description, examples: ['allow'] })

export const PermissionRecord = Type.Object(
  {
    id: Type.String({ description: 'The permission', examples: ['createGroup'] }),
    type: OneOf(['role', 'scope'], 'Whose permission it is'),
    title: Type.String({ examples: ['Create groups'] }),
    description: Type.String({ examples: ['Whether groups can be opened'] }),
    dataType: OneOf(['string', 'stringArray', 'rolesStringArray', 'customStringArray'], 'What a value looks like'),
    availableValues: Type.Optional(
      Type.Array(Type.String(), {
        description: 'The values there are; absent for lists of roles and of free words',
        examples: [['allow', 'deny']],
      }),
    ),
    defaultValue: Value('What holds unless set'),
    value: Value('What holds now'),
    createdAt: Seconds('When the permission came into the catalogue'),
    updatedAt: Seconds('When the permission was last described anew'),
  },
  { title: 'Permission' },
)
export type PermissionRecord = Static<typeof PermissionRecord>

export const PermissionValues = Type.Record(Type.String(), Value('What holds now'), {
  description: 'Every permission and what holds now',
  examples: [{ createGroup: 'deny', 'listUsers.mode': 'all', 'listUsers.allowedRoles': [] }],
})

export const PermissionsSet = Type.Object({
  permissions: Type.Refine(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Permission id to its new value; an empty list restricts nothing',
      examples: [{ initiateCall: 'deny' }],
    }),
    (sent) => Object.keys(sent).length > 0,
    () => 'must not be empty',
  ),
})

/** One outcome for each permission sent, and under `permissions` all values that hold now. */
export const PermissionsSetReply = Type.Object({
  data: Type.Record(Type.String(), Type.Union([ItemOutcome, PermissionValues]), {
    description: 'One outcome for each permission sent; `permissions` has all values that hold now',
    examples: [
      {
        initiateCall: { success: true, message: 'initiateCall is set for the role tutor.' },
        permissions: { initiateCall: 'deny', listUsers: 'allow', 'listUsers.mode': 'all' },
      },
    ],
  }),
})

export const PermissionValuesReply = Type.Object({ data: Type.Object({ permissions: PermissionValues }) })

export const PermissionListQuery = listQuery({})
