import { Type } from '../../kit/schema.ts'

/** How a UID looks, in a path or a body; it is stored in lower case. */
export const Uid = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,100}$',
  description: "A user's unique id",
  examples: ['nora'],
})
