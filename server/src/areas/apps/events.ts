import { defineEvent } from '../../kit/event.ts'
import { Type } from '../../kit/schema.ts'

export const appCreated = defineEvent({
  name: 'app.created',
  payload: Type.Object({ sampleData: Type.Boolean() }),
  audience: () => [],
})

export const appArchived = defineEvent({
  name: 'app.archived',
  payload: Type.Object({ scheduledToDeleteAt: Type.Integer() }),
  audience: () => [],
})
