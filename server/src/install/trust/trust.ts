import type { Authority } from './authority.ts'
import { linuxStore } from './linux.ts'
import type { Machine } from './machine.ts'
import { macosStore } from './macos.ts'
import { browserStores } from './nss.ts'
import type { TrustStore } from './store.ts'
import { windowsStore } from './windows.ts'

/** What has become of one store. */
export interface StoreOutcome {
  store: string
  state: 'trusted' | 'trusted already' | 'removed' | 'not there' | 'by hand' | 'failed'
  /** Why it was not done. */
  why?: string
  /** What a person can do instead. */
  commands?: string[]
}

/** Makes the stores of a machine trust an authority, or forget it; one that cannot be changed keeps none of the others. */
export function changeTrust(machine: Machine, authority: Authority, shallTrust: boolean): StoreOutcome[] {
  return storesOf(machine, authority).map((store) => {
    try {
      return change(store, shallTrust)
    } catch (error) {
      return { store: store.name, state: 'failed', why: (error as Error).message, ...commandsOf(store, shallTrust) }
    }
  })
}

function storesOf(machine: Machine, authority: Authority): TrustStore[] {
  if (machine.platform === 'darwin') return [macosStore(machine, authority)]
  if (machine.platform === 'win32') return [windowsStore(machine, authority)]
  const system = linuxStore(machine, authority)
  return [...(system ? [system] : []), ...browserStores(machine, authority)]
}

function change(store: TrustStore, shallTrust: boolean): StoreOutcome {
  const { name, obstacle } = store
  if (store.has() === shallTrust) return { store: name, state: shallTrust ? 'trusted already' : 'not there' }
  if (obstacle !== undefined) return { store: name, state: 'by hand', why: obstacle, ...commandsOf(store, shallTrust) }
  const why = shallTrust ? store.add() : store.remove()
  if (why !== undefined) return { store: name, state: 'failed', why, ...commandsOf(store, shallTrust) }
  return { store: name, state: shallTrust ? 'trusted' : 'removed' }
}

function commandsOf({ byHand }: TrustStore, shallTrust: boolean): { commands: string[] } {
  return { commands: shallTrust ? byHand.add : byHand.remove }
}
