import { listQuery } from '../../common/page.ts'
import { Seconds, type Static, Type } from '../../kit/schema.ts'

export const RestrictedFeature = Type.Object(
  {
    title: Type.String({ description: 'What the feature is called', examples: ['Create Group'] }),
    description: Type.String({ description: 'What can no longer be done', examples: ['Open a new group'] }),
    key: Type.String({ description: 'The feature, with the prefix `u.`', examples: ['u.createGroup'] }),
    path: Type.String({ description: 'Where the act happens', examples: ['/v3/groups'] }),
    createdAt: Seconds('When it was restricted'),
  },
  { title: 'RestrictedFeature' },
)
export type RestrictedFeature = Static<typeof RestrictedFeature>

const FeatureKeys = (description: string, minItems: number) =>
  Type.Array(Type.String(), { minItems, description, examples: [['createGroup']] })

export const FeaturesRestrict = Type.Object({
  featuresToRestrict: FeatureKeys('Keys of features, with or without the prefix `u.`', 1),
})

export const FeaturesAllow = Type.Object({
  featuresToAllow: Type.Optional(FeatureKeys('Keys of the features to allow again', 0)),
  allowAll: Type.Optional(Type.Boolean({ description: '`true` allows all; wins over the list' })),
})

export const RestrictedFeatureListQuery = listQuery({})
