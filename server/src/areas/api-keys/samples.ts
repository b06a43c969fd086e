import { assertSucceeds } from '../../../../tests/support/house.ts'
import { type Samples, unused } from '../../../../tests/support/sample.ts'

export const samples: Samples = {
  records: {
    apiKey: async ({ app }) => assertSucceeds(await app.post('/apikeys', { name: unused('sample') })).data.apiKey,
  },
}
