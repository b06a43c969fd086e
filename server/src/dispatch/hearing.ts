import { actorOf } from '../areas/users/index.ts'
import type { Channel, Hearing, Shows } from '../kit/channel.ts'
import type { TenantDb } from '../storage/tenant.ts'

type WithHearing = { hearing: Hearing }

export async function channelsOf(areas: WithHearing[], db: TenantDb, uid: string): Promise<Channel[]> {
  const known = await Promise.all(areas.map(({ hearing }) => hearing.channels?.(db, uid) ?? []))
  return known.flat()
}

export async function isAnyRuled(areas: WithHearing[], db: TenantDb, channels: Channel[]): Promise<boolean> {
  const asked = channels.flatMap((channel) => areas.map(({ hearing }) => hearing.isRuled?.(db, channel) ?? false))
  return (await Promise.all(asked)).includes(true)
}

/** An event is told if no area keeps it back; nothing, if none ever does, nor veils anything. */
export async function showsTo(areas: WithHearing[], db: TenantDb, uid: string): Promise<Shows | undefined> {
  const actor = await actorOf(db, uid)
  const answers = await Promise.all(areas.map(({ hearing }) => hearing.shows?.(db, uid, actor)))
  const some = answers.filter((shows) => shows !== undefined)
  if (some.length === 0) return undefined
  const veil = some.find((shows) => shows.veil)?.veil
  return {
    isTold: (event, payload) => some.every(({ isTold }) => isTold?.(event, payload) ?? true),
    ...(veil && { veil }),
  }
}
