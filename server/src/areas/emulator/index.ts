import { area } from '../../kit/area.ts'
import { operations } from './operations.ts'

export { playScript } from './operations.ts'
export type { Script } from './schemas.ts'

export const emulator = area({
  name: 'emulator',
  about: 'A door for tests and demos: scripted calls and a clock that can be moved. Off unless switched on.',
  mount: 'emulator',
  operations,
})
