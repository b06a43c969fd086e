import { randomBytes } from 'node:crypto'

/** What a device that sends offers, for tests in which nothing has to flow. */
export function offerOf(...kinds: ('audio' | 'video')[]): string {
  const head = ['v=0', 'o=- 1 2 IN IP4 127.0.0.1', 's=-', 't=0 0', `a=group:BUNDLE ${kinds.map((_, n) => n).join(' ')}`]
  return [...head, ...kinds.flatMap((kind, n) => (kind === 'audio' ? sound(n) : pictures(n))), ''].join('\r\n')
}

const fingerprint = Array.from(randomBytes(32), (byte) => byte.toString(16).toUpperCase().padStart(2, '0')).join(':')

const connection = (mid: number) => [
  'c=IN IP4 0.0.0.0',
  'a=rtcp:9 IN IP4 0.0.0.0',
  'a=ice-ufrag:abcd',
  'a=ice-pwd:abcdefghijklmnopqrstuvwx',
  'a=ice-options:trickle',
  `a=fingerprint:sha-256 ${fingerprint}`,
  'a=setup:actpass',
  `a=mid:${mid}`,
  'a=sendonly',
  'a=rtcp-mux',
]

const sound = (mid: number) => [
  'm=audio 9 UDP/TLS/RTP/SAVPF 111',
  ...connection(mid),
  'a=rtpmap:111 opus/48000/2',
  'a=ssrc:1001 cname:x',
]

const pictures = (mid: number) => [
  'm=video 9 UDP/TLS/RTP/SAVPF 102',
  ...connection(mid),
  'a=rtpmap:102 H264/90000',
  'a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f',
  'a=ssrc:2002 cname:x',
]
