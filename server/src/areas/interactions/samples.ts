import type { Samples } from '../../../../tests/support/sample.ts'

export const samples: Samples = {
  bodies: {
    recordInteractions: { interactions: ['sample'] },
    recordInteractionsOrRead: { interactions: ['sample'] },
  },
}
