import type { Samples } from '../../../../tests/support/sample.ts'

export const samples: Samples = {
  records: {
    sessionId: async ({ app }) =>
      (await app.play({ initiator: 'nora', receiver: 'milo', steps: [{ after: 3, do: 'cancel' }] })).sessionId,
  },
}
