import type { MediaKind } from '../../../common/media.ts'
import { noMediaSeconds } from './configuration.ts'
import { nameBehind, opaqueBehind, type RoomVisit, visitBehind } from './names.ts'

/** What an engine tells of a device, of all that it tells. */
export type EngineEvent = { at: number; node: string; room: string; visit: RoomVisit } & (
  | { kind: 'gone' }
  | { kind: 'speaking'; isOn: boolean }
  | { kind: 'receiving'; media: MediaKind; mid: string; isOn: boolean }
  | { kind: 'lost'; lostPackets: number; way: 'send' | 'receive' }
)

const ofMedia = 32
const ofPlugin = 64
const receivingChanged = 1
const linkIsSlow = 2
const microsecondsPerMillisecond = 1000
const millisecondsPerSecond = 1000

type Fields = Record<string, unknown>
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

export function readEngineEvent(told: Fields): EngineEvent | undefined {
  const at = Math.round(Number(told.timestamp) / microsecondsPerMillisecond)
  if (!Number.isFinite(at)) return undefined
  const node = String(told.emitter)
  const event = fieldsOf(told.event)
  if (told.type === ofPlugin) return readPluginEvent(at, node, fieldsOf(event.data))
  if (told.type === ofMedia) return readMediaEvent(at, node, told, event)
  return undefined
}

/** After a session has ended, nothing but room and id tells whom it is about. */
function readPluginEvent(at: number, node: string, data: Fields): EngineEvent | undefined {
  const visit = visitBehind(String(data.id))
  if (!visit) return undefined
  const about = { at, node, room: nameBehind(String(data.room)), visit }
  if (data.event === 'leaving' || data.event === 'kicked') return { ...about, kind: 'gone' }
  const speaking = (isOn: boolean) => ({ ...about, kind: 'speaking' as const, isOn })
  // Those whose words begin or end are named so in events for handlers, and otherwise in those for participants.
  const word = String(data.event ?? data.videoroom)
  if (word === 'talking') return speaking(true)
  return word === 'stopped-talking' ? speaking(false) : undefined
}

const receivingWay = 'receive'

export const opaqueOfReceiving = (opaque: string) => `${opaque}/${receivingWay}`

function readMediaEvent(at: number, node: string, { subtype, opaque_id }: Fields, event: Fields) {
  const whose = opaqueBehind(String(opaque_id))
  if (!whose) return undefined
  const about = { at, node, ...whose }
  const way = String(opaque_id).endsWith(`/${receivingWay}`) ? ('receive' as const) : ('send' as const)
  if (subtype === linkIsSlow) {
    return { ...about, kind: 'lost' as const, lostPackets: Number(event.lost_lastsec) || 0, way }
  }
  if (subtype !== receivingChanged || way === 'receive') return undefined
  const media: MediaKind = event.media === 'video' ? 'video' : 'audio'
  const isOn = event.receiving === true
  // It is told when nothing has come for that long.
  const since = isOn ? at : at - noMediaSeconds * millisecondsPerSecond
  return { ...about, at: since, kind: 'receiving' as const, media, mid: String(event.mid), isOn }
}
