import { type FromDevice, type MediaKind, MediaRefused } from '../../../common/media.ts'
import { hasLiveVideo, looksLikeSdp } from '../sdp.ts'
import { isRefusal, janusErrors } from './client.ts'
import { type LiveDevice, nameIn, nameOf, type RoomInside, senderOf, tellDevice } from './live-device.ts'
import { refreshAll } from './receiving.ts'
import type { SentStream } from './remembered.ts'

/** What a device sends: it offers, and the engine answers. */

const labelCharacters = /^[\w-]{1,40}$/
const usualLabels: Record<MediaKind, string> = { audio: 'microphone', video: 'camera' }

export async function takeOffer(
  inside: RoomInside,
  device: LiveDevice,
  { sdp, labels = {} }: FromDevice & { type: 'offer' },
): Promise<void> {
  const { known } = device
  refuseOffer(inside, device, sdp)
  const isFirst = Object.keys(known.sends).length === 0
  const { data, jsep } = await senderOf(inside, device)
    .request({ request: isFirst ? 'publish' : 'configure' }, { type: 'offer', sdp })
    .catch(refusedWhereFull)
  known.sends = streamsIn(data.streams, Object(labels))
  inside.save()
  await muteAgain(inside, device)
  if (jsep) tellDevice(device, { type: 'answer', sdp: jsep.sdp })
  // What it sends for the first time is there for others as soon as it flows; what it adds to that, now.
  if (known.isSending) refreshAll(inside)
}

function refuseOffer({ spec }: RoomInside, { known }: LiveDevice, sdp: string): void {
  if (!looksLikeSdp(sdp)) throw new MediaRefused('badSignal', 'This is no session description.')
  if (!known.mayPublish) throw new MediaRefused('mayNotPublish', 'This device may only receive.')
  if (!spec.media.includes('video') && hasLiveVideo(sdp)) {
    throw new MediaRefused('videoInAudioRoom', 'This call is one of sound alone, and carries no video.')
  }
}

function refusedWhereFull(error: unknown): never {
  if (isRefusal(error, janusErrors.publishersFull)) {
    throw new MediaRefused('tooManyPublishers', 'As many devices as may send do so already.')
  }
  throw error
}

/** Streams that the engine has taken: what it cannot carry, such as another codec, it has refused in its answer. */
function streamsIn(told: unknown, labels: Record<string, unknown>): Record<string, SentStream> {
  const streams: Record<string, SentStream> = {}
  for (const { mid, type, disabled, simulcast } of Array.isArray(told) ? told : []) {
    if (disabled === true || (type !== 'audio' && type !== 'video')) continue
    const media: MediaKind = type
    const label = labels[String(mid)]
    streams[String(mid)] = {
      media,
      label: typeof label === 'string' && labelCharacters.test(label) ? label : usualLabels[media],
      isSimulcast: simulcast === true,
    }
  }
  return streams
}

/** What is kept from others stays so when it is sent anew. */
async function muteAgain(inside: RoomInside, device: LiveDevice): Promise<void> {
  for (const media of device.known.muted) await mute(inside, device, media, true)
}

export async function mute(
  inside: RoomInside,
  { known }: LiveDevice,
  media: MediaKind,
  isMuted: boolean,
): Promise<void> {
  const { control } = inside.running()
  const mids = Object.keys(known.sends).filter((mid) => known.sends[mid]?.media === media)
  for (const mid of mids) {
    const whom = { room: nameIn(inside), secret: inside.secret(), id: nameOf(known) }
    await control.request({ request: 'moderate', ...whom, mid, mute: isMuted })
  }
}
