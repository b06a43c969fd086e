import { defineEvent } from '../../kit/event.ts'
import { Type } from '../../kit/schema.ts'

// The token itself never enters the log; its fingerprint lets the gateway find the connections it opened.
const payload = Type.Object({ uid: Type.String(), fingerprint: Type.String() })
const audience = () => []

export const authTokenCreated = defineEvent({ name: 'authToken.created', payload, audience })
export const authTokenUpdated = defineEvent({ name: 'authToken.updated', payload, audience })
/** By request, or because the user has newer ones enough: whoever came in by it is logged out. */
export const authTokenDeleted = defineEvent({
  name: 'authToken.deleted',
  payload,
  audience,
  ends: ({ uid, fingerprint }) => ({ uid, tokenFingerprint: fingerprint }),
})

export const authTokensFlushed = defineEvent({
  name: 'authToken.flushed',
  payload: Type.Object({ uid: Type.String() }),
  audience,
  ends: ({ uid }) => ({ uid }),
})
