import type { Samples } from '../../../../tests/support/sample.ts'

export const samples: Samples = {
  records: { permission: async () => 'initiateCall' },
}
