import { bringMilo, type Samples, say } from '../../../../tests/support/sample.ts'

export const samples: Samples = {
  records: {
    conversationId: async ({ app }) => {
      await bringMilo(app)
      await say(app, 'milo', 'client', { text: 'Sample' })
      return 'client_user_milo'
    },
  },
  bodies: {
    setPinnedConversations: { pinnedConversations: [{ uid: 'client' }] },
    // Before the first message.
    markUserConversationUnread: { messageId: 0 },
    markGroupConversationUnread: { messageId: 0 },
  },
}
