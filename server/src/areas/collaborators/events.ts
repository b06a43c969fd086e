import { defineEvent } from '../../kit/event.ts'
import { Type } from '../../kit/schema.ts'
import { TeamRole } from './schemas.ts'

// An invitation is a secret and never enters the log.
const payload = Type.Object({ email: Type.String(), role: TeamRole })
const audience = () => []

export const collaboratorAdded = defineEvent({ name: 'collaborator.added', payload, audience })
export const collaboratorMoved = defineEvent({ name: 'collaborator.moved', payload, audience })
export const collaboratorRemoved = defineEvent({ name: 'collaborator.removed', payload, audience })
