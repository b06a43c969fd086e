import { Type } from '../../kit/schema.ts'
import { AppRecord } from '../apps/schemas.ts'

const { id, name, region, state, createdAt } = AppRecord.properties

/** The app without what only those see who run it: keys, owner, plan. */
export const OwnApp = Type.Object({ id, name, region, state, createdAt }, { title: 'OwnApp' })
