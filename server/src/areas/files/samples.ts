import type { Samples } from '../../../../tests/support/sample.ts'

export const samples: Samples = {
  bodies: {
    requestUploads: {
      receiverId: 'client',
      receiverType: 'user',
      files: [{ fileId: 'sample', name: 'sample.png', mimeType: 'image/png', size: 100 }],
    },
  },
}
