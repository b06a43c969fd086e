import type { Work } from '../../kit/work.ts'
import { gate } from '../../plain/gate.ts'

/** Sets about removing what an app keeps outside the database; answers whether anything is left of it. */
export const leftInStore = gate<(work: Work) => Promise<boolean>>('leftInStore', async () => false)
