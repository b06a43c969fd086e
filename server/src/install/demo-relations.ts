import { block } from '../areas/blocked-users/index.ts'
import { befriend } from '../areas/friends/index.ts'
import type { Work } from '../kit/work.ts'

/** Who knows whom in the demo's company, and who wants to be left in peace. */

const friends: Record<string, string[]> = {
  nora: ['milo', 'priya', 'jonas', 'mei'],
  milo: ['amara', 'kenji', 'jonas'],
  amara: ['kenji', 'wanjiru'],
  priya: ['luis', 'elif', 'sakura-tanaka'],
  luis: ['sakura-tanaka', 'omar'],
  jonas: ['wanjiru'],
}

const blocks: Record<string, string[]> = {
  mei: ['luis'],
  kenji: ['jonas'],
  jonas: ['kenji'],
}

export async function relateDemoPeople(work: Work): Promise<void> {
  for (const [uid, others] of Object.entries(friends)) await befriend(work, uid, others)
  for (const [uid, others] of Object.entries(blocks)) await block(work, uid, others)
}
