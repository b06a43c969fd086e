import { assertSucceeds } from '../../../../tests/support/house.ts'
import { type Samples, unused } from '../../../../tests/support/sample.ts'

export const samples: Samples = {
  records: {
    role: async ({ app }) =>
      assertSucceeds(await app.post('/roles', { role: unused('role'), name: 'Sample' })).data.role,
  },
}
