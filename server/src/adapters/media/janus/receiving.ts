import { type FromDevice, MediaRefused, type ReceivedStream, type VideoWish } from '../../../common/media.ts'
import { looksLikeSdp } from '../sdp.ts'
import type { JanusHandle, RoomAnswer, RoomRequest } from './client.ts'
import { opaqueOfReceiving } from './event-reading.ts'
import { type LiveDevice, nameIn, nameOf, type ReceivingOffer, type RoomInside, tellDevice } from './live-device.ts'
import { opaqueName, visitBehind } from './names.ts'
import type { SentStream } from './remembered.ts'

/**
 * What a device gets: all of it over one connection, which the engine offers anew whenever something comes or goes. Offers to
 * one device follow each other: the next is made when the last one was answered.
 */

// More than that nobody looks at, and a browser has trouble to show.
const videosMax = 9
const unansweredMax = 3

interface Source {
  device: LiveDevice
  mid: string
  stream: SentStream
}

export function receiverOf(inside: RoomInside, { known }: LiveDevice): JanusHandle | undefined {
  return known.receiver === undefined ? undefined : inside.running().client.handle(known.session, known.receiver)
}

/** Offers what has changed, unless an offer is on its way already. */
export async function refresh(inside: RoomInside, device: LiveDevice): Promise<void> {
  if (device.isGone) return
  if (device.answerTimer || device.held) {
    device.isStale = true
    return
  }
  device.isStale = false
  const wanted = wantedBy(inside, device)
  const receiver = receiverOf(inside, device)
  if (!receiver) {
    if (wanted.length > 0) await beginReceiving(inside, device, wanted)
    return
  }
  const change = changeTo(wanted, device)
  if (!change) return setHeights(inside, device)
  const answer = await receiver.request(change)
  takeAnswer(inside, device, answer)
  // It still waits for an answer to an offer that was lost with an earlier server.
  if (!answer.jsep) await beginAnew(inside, device, device.known.connection)
}

/** Everybody who may get something else than before. */
export function refreshAll(inside: RoomInside): void {
  for (const device of inside.devices.values()) inside.later(() => refresh(inside, device))
}

function wantedBy({ devices }: RoomInside, { known }: LiveDevice): Source[] {
  const others = [...devices.values()].filter((each) => each.known.isSending && each.known.device !== known.device)
  const all = others.flatMap((device) =>
    Object.entries(device.known.sends).map(([mid, stream]) => ({ device, mid, stream })),
  )
  const isWished = (source: Source) => known.wishes === undefined || known.wishes.some((wish) => isMeant(wish, source))
  const videos = all.filter((source) => source.stream.media === 'video' && isWished(source))
  return [...all.filter(({ stream }) => stream.media === 'audio'), ...videos.slice(0, videosMax)]
}

const isMeant = (wish: VideoWish, { device, stream }: Source) =>
  wish.device === device.known.device && (wish.label === undefined || wish.label === stream.label)

async function beginReceiving(inside: RoomInside, device: LiveDevice, wanted: Source[]): Promise<void> {
  const { known } = device
  const { client } = inside.running()
  const opaque = opaqueOfReceiving(opaqueName(inside.spec.room, nameOf(known)))
  const receiver = await client.attach(known.session, opaque)
  known.receiver = receiver.id
  known.connection += 1
  inside.route(receiver.id, device, 'receive')
  inside.save()
  const answer = await receiver.request({
    ...{ request: 'join', ptype: 'subscriber', room: nameIn(inside), private_id: known.privateId },
    streams: wanted.map(asSubscription),
    // It would make offers by itself when somebody leaves, also while no server is there to hear them.
    autoupdate: false,
  })
  takeAnswer(inside, device, answer)
}

const asSubscription = ({ device, mid }: Source) => ({ feed: nameOf(device.known), mid })

/** What to ask for so that a device gets these and no others; nothing, if it gets them already. */
function changeTo(wanted: Source[], { known }: LiveDevice): RoomRequest | undefined {
  const has = Object.entries(known.receives)
  const isHad = ({ device, mid }: Source) =>
    has.some(([, had]) => had.device === device.known.device && had.visit === device.known.visit && had.mid === mid)
  const isWanted = (had: { device: string; visit: number; mid: string }) =>
    wanted.some(
      (each) =>
        each.device.known.device === had.device && each.device.known.visit === had.visit && each.mid === had.mid,
    )
  const subscribe = wanted.filter((each) => !isHad(each)).map(asSubscription)
  const unsubscribe = has.filter(([, had]) => !isWanted(had)).map(([mid]) => ({ sub_mid: mid }))
  if (subscribe.length + unsubscribe.length === 0) return undefined
  return {
    request: 'update',
    ...(subscribe.length > 0 && { subscribe }),
    ...(unsubscribe.length > 0 && { unsubscribe }),
  }
}

/** What the engine says of a connection for receiving, asked or unasked: with an offer, if anything is to be changed. */
export function takeAnswer(inside: RoomInside, device: LiveDevice, { data, jsep }: RoomAnswer): void {
  const { known } = device
  if (Array.isArray(data.streams)) {
    known.receives = receivedIn(data.streams)
    inside.save()
  }
  if (jsep?.type !== 'offer') return
  const { connection } = known
  const offer: ReceivingOffer = { type: 'offer', sdp: jsep.sdp, connection, streams: shownIn(inside, device) }
  if (device.answerTimer || !device.toDevice) device.held = offer
  else makeOffer(inside, device, offer)
}

function receivedIn(streams: unknown[]): LiveDevice['known']['receives'] {
  const received: LiveDevice['known']['receives'] = {}
  for (const told of streams) {
    const { mid, active, feed_id: feed, feed_mid: feedMid } = told as Record<string, unknown>
    const visit = visitBehind(String(feed))
    if (active === false || !visit) continue
    received[String(mid)] = { device: visit.device, visit: visit.number, mid: String(feedMid) }
  }
  return received
}

function shownIn({ devices }: RoomInside, { known }: LiveDevice): Record<string, ReceivedStream> {
  const shown: Record<string, ReceivedStream> = {}
  for (const [mid, { device, mid: sourceMid }] of Object.entries(known.receives)) {
    const stream = devices.get(device)?.known.sends[sourceMid]
    if (stream) shown[mid] = { device, media: stream.media, label: stream.label }
  }
  return shown
}

function makeOffer(inside: RoomInside, device: LiveDevice, offer: ReceivingOffer): void {
  const { connection } = offer
  device.answerTimer = setTimeout(() => {
    inside.later(() => beginAnew(inside, device, connection))
  }, inside.times.offerMilliseconds)
  device.answerTimer.unref()
  device.known.isOffered = true
  inside.save()
  tellDevice(device, offer)
}

/**
 * The connection is of no use any more. A device that does not answer is offered another one a few times; then it has to say
 * something first.
 */
export async function beginAnew(inside: RoomInside, device: LiveDevice, connection: number): Promise<void> {
  const { known } = device
  if (device.isGone || known.connection !== connection) return
  device.unanswered += 1
  await stopReceiving(inside, device)
  if (device.unanswered < unansweredMax) await refresh(inside, device)
}

export async function stopReceiving(inside: RoomInside, device: LiveDevice): Promise<void> {
  const receiver = receiverOf(inside, device)
  clearTimeout(device.answerTimer)
  device.answerTimer = undefined
  device.held = undefined
  device.heights.clear()
  device.known.receiver = undefined
  device.known.receives = {}
  device.known.isOffered = false
  inside.save()
  if (!receiver) return
  inside.unroute(receiver.id)
  await receiver.detach()
}

export async function takeDeviceAnswer(
  inside: RoomInside,
  device: LiveDevice,
  { sdp, connection }: FromDevice & { type: 'answer' },
): Promise<void> {
  if (!looksLikeSdp(sdp)) throw new MediaRefused('badSignal', 'This is no session description.')
  const receiver = receiverOf(inside, device)
  // It answers an offer that is not open any more; if there is none, it has shown that it is there.
  if (!receiver || connection !== device.known.connection) return refresh(inside, device)
  clearTimeout(device.answerTimer)
  device.answerTimer = undefined
  device.unanswered = 0
  device.known.isOffered = false
  inside.save()
  await receiver.request({ request: 'start' }, { type: 'answer', sdp })
  await goOn(inside, device)
}

/** What has come up while an offer was open. */
async function goOn(inside: RoomInside, device: LiveDevice): Promise<void> {
  const { held } = device
  device.held = undefined
  if (held) makeOffer(inside, device, held)
  else if (device.isStale) await refresh(inside, device)
  else await setHeights(inside, device)
}

/** The device is back at its socket. An offer that it may not have heard is replaced by one for a new connection. */
export async function goOnReceiving(inside: RoomInside, device: LiveDevice): Promise<void> {
  device.unanswered = 0
  if (device.known.isOffered || device.held) await stopReceiving(inside, device)
  await refresh(inside, device)
}

/** The way between them has changed: everything stays, but is looked for at its new place. */
export async function restartReceiving(inside: RoomInside, device: LiveDevice): Promise<void> {
  const receiver = receiverOf(inside, device)
  if (!receiver || device.answerTimer) return refresh(inside, device)
  takeAnswer(inside, device, await receiver.request({ request: 'configure', restart: true }))
}

const layerOf = { 180: 0, 360: 1, 720: 2 } as const
const highest = 2

/** Where a video comes in several heights, the one that is asked for; each is changed once in a while only. */
async function setHeights(inside: RoomInside, device: LiveDevice): Promise<void> {
  const receiver = receiverOf(inside, device)
  if (!receiver || device.isGone) return
  const now = performance.now()
  let dueIn = Number.POSITIVE_INFINITY
  for (const [mid, layer] of layersWanted(inside, device)) {
    const set = device.heights.get(mid)
    if ((set?.layer ?? highest) === layer) continue
    const wait = set ? set.at + inside.times.heightMilliseconds - now : 0
    if (wait > 0) dueIn = Math.min(dueIn, wait)
    else {
      device.heights.set(mid, { layer, at: now })
      await receiver.request({ request: 'configure', streams: [{ mid, substream: layer }] })
    }
  }
  clearTimeout(device.heightTimer)
  if (!Number.isFinite(dueIn)) return
  device.heightTimer = setTimeout(() => inside.later(() => setHeights(inside, device)), dueIn)
  device.heightTimer.unref()
}

function layersWanted({ devices }: RoomInside, { known }: LiveDevice): [mid: string, layer: number][] {
  return Object.entries(known.receives).flatMap(([mid, from]) => {
    const device = devices.get(from.device)
    const stream = device?.known.sends[from.mid]
    if (!device || !stream?.isSimulcast) return []
    const wish = known.wishes?.find((each) => isMeant(each, { device, mid: from.mid, stream }))
    return [[mid, wish?.heightMax === undefined ? highest : layerOf[wish.heightMax]] as [string, number]]
  })
}
