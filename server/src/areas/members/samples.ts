import { assertSucceeds } from '../../../../tests/support/house.ts'
import { addMember, type Samples } from '../../../../tests/support/sample.ts'

export const samples: Samples = {
  arrangements: {
    getMember: addMember,
    changeMemberScope: addMember,
    kickMember: addMember,
    async joinGroup({ app }, { guid }) {
      assertSucceeds(await app.delete(`/groups/${guid}/members/client`))
    },
  },
}
