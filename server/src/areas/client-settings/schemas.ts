import { type Static, Type } from '../../kit/schema.ts'
import { AppSettings } from '../apps/schemas.ts'

const Cap = (example: number, description: string) => Type.Integer({ description, examples: [example] })

export const ClientSettings = Type.Object(
  {
    settings: Type.Object(
      {
        ...AppSettings.properties,
        'file.size.max': Cap(100_000_000, 'Bytes of one file, and of all files of one request'),
        'file.count.max': Cap(10, 'Files of one message'),
        'parley.messages.pinned.max': Cap(100, 'Pinned messages of one conversation'),
        'parley.messages.saved.max': Cap(100, 'Saved messages of one user'),
        'parley.conversations.pinned.max': Cap(5, 'Pinned conversations of one user'),
      },
      { description: 'Switches and limits by key' },
    ),
    restrictedFeatures: Type.Array(Type.String(), {
      description: "Features that the user's role may not use, with the prefix `u.`, in their order",
      examples: [['u.createGroup']],
    }),
  },
  { title: 'ClientSettings' },
)
export type ClientSettings = Static<typeof ClientSettings>
