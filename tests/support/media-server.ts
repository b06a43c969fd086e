import { openJanusEngine } from '../../server/src/adapters/media/janus/engine.ts'
import { offerOf } from './media-sdp.ts'

/** A server with a call, in a process of its own, to be killed: it says so when the call is remembered, and waits. */
const engine = await openJanusEngine({ settings: JSON.parse(process.argv[2] ?? ''), onTrouble: console.error })
const ref = { room: 'a', device: 'ada' }
await engine.openRoom({ room: 'a', media: ['audio', 'video'], publishersMax: 2, videoBitrateMax: 1_000_000 })
await engine.join(ref, { mayPublish: true }, () => {})
await engine.signal(ref, { type: 'offer', sdp: offerOf('audio', 'video') })
await engine.remembered()
console.log(engine.processIds()[0])
process.stdin.resume()
