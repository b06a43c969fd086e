import { one } from '../../common/reply.ts'
import { operation } from '../../kit/operation.ts'
import { appOf, toAppSummary } from '../apps/index.ts'
import { OwnApp } from './schemas.ts'

const getOwnApp = operation({
  id: 'getOwnApp',
  route: 'GET /app',
  summary: 'Get the app of the API key',
  description:
    'Which app a key opens; good for trying whether it does. Keys, owner and plan are for the management door.',
  reply: one(OwnApp),
  run: async ({ db }) => ({ data: toAppSummary(await appOf(db)) }),
})

export const operations = [getOwnApp]
