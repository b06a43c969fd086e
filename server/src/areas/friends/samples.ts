import { assertSucceeds } from '../../../../tests/support/house.ts'
import { bringMilo, type Samples } from '../../../../tests/support/sample.ts'

export const samples: Samples = {
  arrangements: {
    async removeFriends({ app }, { uid }) {
      await bringMilo(app)
      assertSucceeds(await app.post(`/users/${uid}/friends`, { accepted: ['milo'] }))
    },
  },
}
