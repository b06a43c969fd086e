import { listQuery } from '../../common/page.ts'
import { SearchKey } from '../../common/shapes.ts'
import { FilledText, NeverEmpty, OneOf, Seconds, type Static, Type } from '../../kit/schema.ts'

const nameCharactersMax = 100

export const ApiKeyScope = OneOf(['fullAccess', 'authOnly'], 'What the key may do')

export const ApiKey = Type.Object(
  {
    apiKey: Type.String({
      description: 'The key itself, 40 hexadecimal characters',
      examples: ['5d0a3c9be1f74826a9d3e07c4b81f25a6c90de37'],
    }),
    name: Type.String({ description: 'A label, unique in the app', examples: ['billing service'] }),
    scope: ApiKeyScope,
    createdAt: Seconds('When it was created'),
    updatedAt: Type.Optional(Seconds('When it was last changed')),
  },
  { title: 'ApiKey' },
)
export type ApiKey = Static<typeof ApiKey>

export const ApiKeyCreate = Type.Object(
  {
    name: NeverEmpty(FilledText(nameCharactersMax, 'A label, unique in the app')),
    scope: Type.Optional(NeverEmpty(ApiKeyScope)),
  },
  { examples: [{ name: 'billing service', scope: 'fullAccess' }] },
)

export const ApiKeyUpdate = Type.Partial(ApiKeyCreate, { examples: [{ name: 'invoicing service' }] })

export const ApiKeyListQuery = listQuery({
  scope: Type.Optional(ApiKeyScope),
  searchKey: SearchKey('Part of the name, in any letter case'),
})
export type ApiKeyListQuery = Static<typeof ApiKeyListQuery>
