import type { NoteDefinition, NotedMoment, Notes } from '../kit/note.ts'
import type { Database } from '../storage/database.ts'
import { tenantDb } from '../storage/tenant.ts'

const momentsAtOnce = 500

/** What is kept of one definition in one app, by key. */
type Kept = Map<string, NotedMoment>

export function createNotes(database: Pick<Database, 'write'>): Notes {
  const kept = new Map<NoteDefinition, Map<string, Kept>>()
  let current: Promise<void> = Promise.resolve()

  function take(definition: NoteDefinition, appId: string, { key, at }: NotedMoment): void {
    const ofApps = kept.get(definition) ?? new Map<string, Kept>()
    kept.set(definition, ofApps)
    const moments: Kept = ofApps.get(appId) ?? new Map()
    ofApps.set(appId, moments)
    const name = JSON.stringify(key)
    const known = moments.get(name)
    if (!known || known.at < at) moments.set(name, { key, at })
  }

  async function writeSome(definition: NoteDefinition, appId: string, moments: NotedMoment[]): Promise<void> {
    try {
      await database.write((connection) => definition.write(tenantDb(connection, appId), moments), appId)
    } catch (error) {
      for (const moment of moments) take(definition, appId, moment)
      throw error
    }
  }

  /** One app's trouble keeps no other's from being written. */
  async function writeAll(): Promise<void> {
    const failures: unknown[] = []
    const taken = [...kept]
    kept.clear()
    for (const [definition, ofApps] of taken) {
      for (const [appId, moments] of ofApps) {
        for (const some of inBatches(moments)) {
          await writeSome(definition, appId, some).catch((error) => failures.push(error))
        }
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  return {
    take,
    write() {
      const next = current.then(writeAll)
      current = next.catch(() => {})
      return next
    },
  }
}

function inBatches(moments: Kept): NotedMoment[][] {
  const all = [...moments.values()]
  return Array.from({ length: Math.ceil(all.length / momentsAtOnce) }, (_, n) =>
    all.slice(n * momentsAtOnce, (n + 1) * momentsAtOnce),
  )
}
