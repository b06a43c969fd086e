import { area } from '../../kit/area.ts'
import { takeBack } from './crossing.ts'
import { operations } from './operations.ts'
import { callSessionRate, ringRate } from './rates.ts'

export { callSessionRate } from './rates.ts'
export { type InSession, joinSession, leaveSession, switchCamera } from './session.ts'
export { type CallPass, passIn } from './tokens.ts'

export const ringing = area({
  name: 'ringing',
  about: 'Placing, answering, refusing and ending calls.',
  operations,
  jobs: [takeBack],
  rates: [ringRate, callSessionRate],
})
