import { assertSucceeds } from '../../../../tests/support/house.ts'
import type { Samples } from '../../../../tests/support/sample.ts'

export const samples: Samples = {
  records: {
    authToken: async ({ app }, { uid }) =>
      assertSucceeds(await app.post(`/users/${uid}/auth_tokens`, { force: true })).data.authToken,
  },
}
