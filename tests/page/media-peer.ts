/**
 * A device in a browser, as far as media goes: it sends what a fake camera and microphone give it, answers what it is offered,
 * and tells what came of it. A test puts it into a page as it is, without its types.
 */

interface PeerSignal {
  type: string
  sdp?: string
  connection?: number
  candidate?: RTCIceCandidateInit | null
  streams?: Record<string, { device: string; media: string; label: string }>
}

interface PeerOptions {
  iceServers: RTCIceServer[]
  relayOnly: boolean
}

const peer = {
  sending: undefined as RTCPeerConnection | undefined,
  receiving: undefined as RTCPeerConnection | undefined,
  connection: 0,
  streams: {} as NonNullable<PeerSignal['streams']>,
  hangups: [] as string[],
  candidateErrors: [] as number[],
  options: { iceServers: [], relayOnly: false } as PeerOptions,
  turn: Promise.resolve() as Promise<unknown>,
}

const say = (signal: object) => (window as unknown as { say(signal: object): void }).say(signal)

function connect(way: 'send' | 'receive'): RTCPeerConnection {
  const { iceServers, relayOnly } = peer.options
  const made = new RTCPeerConnection({ iceServers, iceTransportPolicy: relayOnly ? 'relay' : 'all' })
  made.addEventListener('icecandidate', ({ candidate }) => say({ type: 'candidate', way, candidate }))
  made.addEventListener('icecandidateerror', ({ errorCode }) => peer.candidateErrors.push(errorCode))
  return made
}

interface SendOptions extends Partial<PeerOptions> {
  video: boolean
  codec: string
  simulcast?: boolean
  /** Somebody who never stops talking, instead of the beeps of the fake microphone. */
  hums?: boolean
}

async function send({ video, codec, simulcast, hums, ...options }: SendOptions): Promise<void> {
  Object.assign(peer.options, options)
  const media = await navigator.mediaDevices.getUserMedia({
    audio: !hums,
    // Where a video is small, browsers send it in fewer heights.
    video: video ? { width: simulcast ? 1280 : 640, height: simulcast ? 720 : 360, frameRate: 15 } : false,
  })
  peer.sending = connect('send')
  for (const track of [...media.getTracks(), ...(hums ? hum() : [])]) {
    const sendEncodings = simulcast
      ? [{ rid: 'h' }, { rid: 'm', scaleResolutionDownBy: 2 }, { rid: 'l', scaleResolutionDownBy: 4 }]
      : []
    const init: RTCRtpTransceiverInit = { direction: 'sendonly', ...(track.kind === 'video' && { sendEncodings }) }
    const transceiver = peer.sending.addTransceiver(track, init)
    if (track.kind === 'video') transceiver.setCodecPreferences(codecsNamed(codec))
  }
  const offer = await peer.sending.createOffer()
  await peer.sending.setLocalDescription(offer)
  say({ type: 'offer', sdp: offer.sdp })
}

/** Somebody switches on their camera when they have talked for a while. */
async function addVideo(): Promise<void> {
  const media = await navigator.mediaDevices.getUserMedia({ video: { width: 640, height: 360, frameRate: 15 } })
  for (const track of media.getTracks()) {
    peer.sending?.addTransceiver(track, { direction: 'sendonly' }).setCodecPreferences(codecsNamed('H264'))
  }
  await offerAgain()
}

/** As when a device has got into another network. */
async function restart(): Promise<void> {
  peer.sending?.restartIce()
  await offerAgain()
  say({ type: 'restart' })
}

async function offerAgain(): Promise<void> {
  const offer = await peer.sending?.createOffer()
  await peer.sending?.setLocalDescription(offer)
  say({ type: 'offer', sdp: offer?.sdp })
}

function hum(): MediaStreamTrack[] {
  const context = new AudioContext()
  const destination = context.createMediaStreamDestination()
  const tone = context.createOscillator()
  tone.connect(destination)
  tone.start()
  return destination.stream.getAudioTracks()
}

function codecsNamed(name: string): RTCRtpCodec[] {
  const { codecs = [] } = RTCRtpSender.getCapabilities('video') ?? {}
  return codecs.filter(({ mimeType }) => mimeType.toLowerCase() === `video/${name}`.toLowerCase())
}

/** One after the other, as they come. */
function hear(signal: PeerSignal): void {
  peer.turn = peer.turn.then(() => take(signal)).catch((error) => peer.hangups.push(String(error)))
}

async function take({ type, sdp = '', connection = 0, streams = {} }: PeerSignal): Promise<void> {
  if (type === 'answer') return peer.sending?.setRemoteDescription({ type, sdp })
  if (type !== 'offer') return void peer.hangups.push(type)
  if (connection !== peer.connection) {
    peer.receiving?.close()
    peer.receiving = connect('receive')
    peer.connection = connection
  }
  peer.streams = streams
  await peer.receiving?.setRemoteDescription({ type, sdp })
  const answer = await peer.receiving?.createAnswer()
  await peer.receiving?.setLocalDescription(answer)
  say({ type: 'answer', sdp: answer?.sdp, connection })
}

interface Flow {
  kind: string
  codec: string
  from: string | undefined
  frames: number
  height: number
  packets: number
}

async function received(): Promise<{ flows: Flow[]; cipher: string; candidate: string }> {
  const stats = [...((await peer.receiving?.getStats()) ?? new Map()).values()]
  const byId = new Map(stats.map((each) => [each.id, each]))
  const transport = stats.find(({ type }) => type === 'transport') ?? {}
  const pair = byId.get(transport.selectedCandidatePairId) ?? {}
  const flows = stats
    .filter(({ type }) => type === 'inbound-rtp')
    .map((flow) => ({
      kind: flow.kind,
      codec: byId.get(flow.codecId)?.mimeType ?? '',
      from: peer.streams[flow.mid]?.device,
      frames: flow.framesDecoded ?? 0,
      height: flow.frameHeight ?? 0,
      packets: flow.packetsReceived ?? 0,
    }))
  return { flows, cipher: transport.srtpCipher ?? '', candidate: byId.get(pair.localCandidateId)?.candidateType ?? '' }
}

Object.assign(window, { peer, send, addVideo, restart, hear, received })
