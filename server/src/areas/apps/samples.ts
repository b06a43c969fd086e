import { assertSucceeds } from '../../../../tests/support/house.ts'
import type { Samples } from '../../../../tests/support/sample.ts'

export const samples: Samples = {
  records: {
    appId: async ({ house }) =>
      assertSucceeds(await house.management.post('/apps', { name: 'sample', region: 'us' })).data.id,
  },
}
