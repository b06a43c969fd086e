import { preflight } from './preflight.ts'
import type { MediaSettings } from './settings.ts'
import { relayTrouble } from './turn/relay.ts'

/** Why there is no media, as far as can be told without starting anything. */
export async function mediaTrouble(settings: MediaSettings): Promise<string | undefined> {
  const found = await preflight(settings)
  if ('trouble' in found) return found.trouble
  return settings.relay && relayTrouble(settings.relay, settings.folder, found.address)
}
