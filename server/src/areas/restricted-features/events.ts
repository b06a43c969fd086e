import { appChannel } from '../../kit/channel.ts'
import { defineEvent } from '../../kit/event.ts'
import { Type } from '../../kit/schema.ts'

const payload = Type.Object({
  role: Type.String({ description: 'The role' }),
  features: Type.Array(Type.String(), { description: 'Keys of the features that changed, without prefix' }),
})
const audience = () => []
const changesSightOf = () => [appChannel]

export const featuresRestricted = defineEvent({ name: 'role.featuresRestricted', payload, audience, changesSightOf })
export const featuresAllowed = defineEvent({ name: 'role.featuresAllowed', payload, audience, changesSightOf })
