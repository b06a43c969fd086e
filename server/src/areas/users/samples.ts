import { assertSucceeds } from '../../../../tests/support/house.ts'
import { type Samples, say, unused } from '../../../../tests/support/sample.ts'

export const samples: Samples = {
  records: {
    // The sweep's client has a message from them, so that there is a conversation of the two.
    uid: async ({ app }) => {
      const body = { uid: unused('uid'), name: 'Sample', tags: ['sample'] }
      const { uid } = assertSucceeds(await app.post('/users', body)).data
      await say(app, uid, 'client', { text: 'Sample' })
      return uid
    },
  },
}
