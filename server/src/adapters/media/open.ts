import type { MediaEngine } from '../../common/media.ts'
import { startAll } from '../../plain/started.ts'
import { openJanusEngine } from './janus/engine.ts'
import { takeOwnFolder } from './own-folder.ts'
import { preflight } from './preflight.ts'
import type { MediaSettings } from './settings.ts'
import { openRelay, type Relay } from './turn/relay.ts'

type OnTrouble = (error: unknown, what: string) => void

/** The engine of this machine, and its relay if there is to be one. */
export function openMedia(wanted: MediaSettings, onTrouble: OnTrouble): Promise<MediaEngine> {
  return startAll(async (started) => {
    const own = await takeOwnFolder(wanted.folder)
    started.add(own.release)
    const settings = { ...wanted, folder: own.folder }
    const relay = await openRelayIn(settings, onTrouble)
    if (relay) started.add(relay.close)
    const engine = await openJanusEngine({ settings, onTrouble, ...(relay && { iceServers: relay.iceServers }) })
    started.add(engine.close)
    return {
      ...engine,
      trouble: async () => (await engine.trouble()) ?? relay?.trouble(),
      figures() {
        const figures = engine.figures()
        return { ...figures, restarts: figures.restarts + (relay?.restarts() ?? 0) }
      },
      close: started.stop,
    }
  })
}

async function openRelayIn(settings: MediaSettings, onTrouble: OnTrouble): Promise<Relay | undefined> {
  const { relay, folder, publicAddress, uid } = settings
  if (!relay) return undefined
  const found = await preflight(settings)
  if ('trouble' in found) {
    onTrouble(new Error(found.trouble), 'there is no relay for media')
    return undefined
  }
  return openRelay({ settings: relay, folder, address: found.address, publicAddress, uid, onTrouble })
}
