import type { Channel, Hearing, Shows } from '../kit/channel.ts'
import type { TenantDb } from '../storage/tenant.ts'

type WithHearing = { hearing: Hearing }

export async function channelsOf(areas: WithHearing[], db: TenantDb, uid: string): Promise<Channel[]> {
  const known = await Promise.all(areas.map(({ hearing }) => hearing.channels?.(db, uid) ?? []))
  return known.flat()
}

/** An event is shown if no area keeps it back. */
export async function showsTo(areas: WithHearing[], db: TenantDb, uid: string): Promise<Shows> {
  const all = await Promise.all(areas.flatMap(({ hearing }) => hearing.shows?.(db, uid) ?? []))
  return (event, payload) => all.every((shows) => shows(event, payload))
}
