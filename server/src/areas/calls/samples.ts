import { assertSucceeds } from '../../../../tests/support/house.ts'
import { bringMilo, type Samples } from '../../../../tests/support/sample.ts'

export const samples: Samples = {
  records: {
    /** Rings for the sweep's client. */
    async sessionId({ app }) {
      await bringMilo(app)
      const body = { receiver: 'client', receiverType: 'user', type: 'video' }
      const { data } = assertSucceeds(await app.post('/calls', body, { onBehalfOf: 'milo' }))
      return data.data.entities.on.entity.sessionid
    },
  },
}
