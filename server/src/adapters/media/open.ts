import type { MediaEngine } from '../../common/media.ts'
import { openJanusEngine } from './janus/engine.ts'
import { preflight } from './preflight.ts'
import type { MediaSettings } from './settings.ts'
import { openRelay, type Relay } from './turn/relay.ts'

/** The engine of this machine, and its relay if there is to be one. */
export async function openMedia(
  settings: MediaSettings,
  onTrouble: (error: unknown, what: string) => void,
): Promise<MediaEngine> {
  const relay = await openRelayIn(settings, onTrouble)
  const engine = await openJanusEngine({
    settings,
    onTrouble,
    ...(relay && { iceServers: relay.iceServers }),
  })
  return {
    ...engine,
    trouble: async () => (await engine.trouble()) ?? (await relay?.trouble()),
    figures() {
      const figures = engine.figures()
      return { ...figures, restarts: figures.restarts + (relay?.restarts() ?? 0) }
    },
    async close() {
      await Promise.all([engine.close(), relay?.close()])
    },
  }
}

async function openRelayIn(
  settings: MediaSettings,
  onTrouble: (error: unknown, what: string) => void,
): Promise<Relay | undefined> {
  const { relay, folder, publicAddress, uid } = settings
  if (!relay) return undefined
  const found = await preflight(settings)
  if ('trouble' in found) return undefined
  return openRelay({ settings: relay, folder, address: found.address, publicAddress, uid, onTrouble })
}
