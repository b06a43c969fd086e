import type { Clock, Presence } from '../../kit/ports.ts'
import { crowdOf } from './crowd.ts'
import { presenceHearers } from './hearers.ts'

/** Who is connected to this process, which is the only node. */
export function memoryPresence(clock: Clock): Presence {
  const connected = crowdOf()
  const { tell, onChange } = presenceHearers()
  return {
    online: connected.of,
    came(appId, uid) {
      if (connected.add(appId, uid)) tell({ appId, uid, isOnline: true, at: clock.now(), isOurs: true })
    },
    went(appId, uid, at = clock.now()) {
      if (connected.delete(appId, uid)) tell({ appId, uid, isOnline: false, at, isOurs: true })
    },
    onChange,
    close: async () => {},
  }
}
