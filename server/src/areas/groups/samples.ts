import { assertSucceeds } from '../../../../tests/support/house.ts'
import { bringMilo, makeGroup, type Samples } from '../../../../tests/support/sample.ts'

export const samples: Samples = {
  records: {
    guid: ({ app }) => makeGroup(app),
  },
  bodies: { transferOwnership: { uid: 'milo' } },
  arrangements: {
    async transferOwnership({ app }, { guid }) {
      await bringMilo(app)
      assertSucceeds(await app.post(`/groups/${guid}/members`, { participants: ['milo'] }))
      assertSucceeds(await app.put(`/groups/${guid}`, { owner: 'client' }))
    },
  },
}
