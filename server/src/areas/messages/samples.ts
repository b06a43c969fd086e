import { assertSucceeds } from '../../../../tests/support/house.ts'
import { bringMilo, type Samples, say } from '../../../../tests/support/sample.ts'

export const samples: Samples = {
  records: {
    // A message that everything can be done with, and of which the sweep's client has done what is their own affair.
    id: async ({ app }) => {
      await bringMilo(app)
      const interactiveData = { cardActions: [{ elementType: 'button', elementId: 'sample' }] }
      const data = { text: 'Sample for <@uid:client>', interactiveData, allowSenderInteraction: true }
      const id = await say(app, 'client', 'milo', data, { category: 'interactive', tags: ['sample'] })
      for (const act of ['save', 'thread/subscription', 'reactions/sample']) {
        assertSucceeds(await app.post(`/messages/${id}/${act}`, undefined, { onBehalfOf: 'client' }))
      }
      return id
    },
  },
  bodies: {
    sendMessage: { receiver: 'client', receiverType: 'user', data: { text: 'Sample' } },
    sendMessageToUser: { data: { text: 'Sample' } },
    sendMessageToGroup: { data: { text: 'Sample' } },
    sendMessageAsBot: { receiver: 'client', receiverType: 'user', data: { text: 'Sample' } },
    updateMessage: { data: { text: 'Another sample' } },
  },
  arrangements: {
    async sendMessageAsBot({ app }, { uid }) {
      await app.post('/roles', { role: 'bot', name: 'Bot' })
      assertSucceeds(await app.put(`/users/${uid}`, { role: 'bot' }))
    },
  },
}
