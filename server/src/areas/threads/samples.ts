import { assertSucceeds } from '../../../../tests/support/house.ts'
import { makeGroup, type Samples } from '../../../../tests/support/sample.ts'

export const samples: Samples = {
  bodies: { sendReply: { data: { text: 'Sample' } } },
  arrangements: {
    // Without an acting user the app replies, which it does in groups.
    async sendReply({ app }, made) {
      const body = { receiver: await makeGroup(app), receiverType: 'group', data: { text: 'Sample' } }
      made.id = assertSucceeds(await app.post('/messages', body, { onBehalfOf: 'client' })).data.id
    },
  },
}
