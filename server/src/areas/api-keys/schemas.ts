import { listQuery } from '../../kit/page.ts'
import { FilledText, OneOf, Seconds, type Static, Type } from '../../kit/schema.ts'

const nameCharactersMax = 100

export const Scope = OneOf(['fullAccess', 'authOnly'], 'What the key may do')

export const ApiKey = Type.Object({
  apiKey: Type.String({ description: 'The key itself, 40 hexadecimal characters' }),
  name: Type.String({ description: 'A label, unique in the app' }),
  scope: Scope,
  createdAt: Seconds('When it was created'),
  updatedAt: Type.Optional(Seconds('When it was last changed')),
})
export type ApiKey = Static<typeof ApiKey>

export const ApiKeyCreate = Type.Object({
  name: FilledText(nameCharactersMax, 'A label, unique in the app'),
  scope: Type.Optional(Scope),
})

export const ApiKeyUpdate = Type.Partial(ApiKeyCreate)

export const ApiKeyListQuery = listQuery({
  scope: Type.Optional(Scope),
  searchKey: Type.Optional(Type.String({ description: 'Part of the name, in any letter case' })),
})
export type ApiKeyListQuery = Static<typeof ApiKeyListQuery>
