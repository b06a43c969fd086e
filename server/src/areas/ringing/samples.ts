import { bringMilo, type Samples } from '../../../../tests/support/sample.ts'

export const samples: Samples = {
  bodies: {
    createCall: { receiver: 'milo', receiverType: 'user', type: 'audio' },
    updateCall: { status: 'rejected' },
  },
  arrangements: {
    createCall: ({ app }) => bringMilo(app),
  },
}
