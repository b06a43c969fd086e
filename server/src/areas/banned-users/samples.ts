import { assertSucceeds } from '../../../../tests/support/house.ts'
import { addMember, type Made, type Samples, type Stage } from '../../../../tests/support/sample.ts'

export const samples: Samples = {
  arrangements: { banUser: addMember, banMember: addMember, unbanUser: banSample, unbanMember: banSample },
}

async function banSample({ app }: Stage, { guid, uid }: Made): Promise<void> {
  assertSucceeds(await app.post(`/groups/${guid}/members`, { usersToBan: [uid] }))
}
