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
  ends: () => ({}),
})

/** What is written from now on goes by these; what was written stays as it is. */
export const appSettingsChanged = defineEvent({
  name: 'app.settingsChanged',
  payload: Type.Object({
    settings: Type.Record(Type.String(), Type.Unknown(), { description: 'What is in force now, where it has changed' }),
  }),
  audience: () => [],
})
