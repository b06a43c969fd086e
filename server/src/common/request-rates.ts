import type { Rate } from '../kit/limits.ts'

/** What is counted of requests, whatever they are for. */

const ofCore: Rate['setting'] = {
  variable: 'PARLEY_LIMIT_CORE',
  about: 'Requests a minute and app to the core class',
  usual: 10_000,
}
const ofStandard: Rate['setting'] = {
  variable: 'PARLEY_LIMIT_STANDARD',
  about: 'Requests a minute and app to all else',
  usual: 20_000,
}
// So much of what an app may ask for is a single user's at most.
const userPart = 1 / 10

export const requestsOfApp = {
  core: { name: 'core', seconds: 60, setting: ofCore },
  standard: { name: 'standard', seconds: 60, setting: ofStandard },
} satisfies Record<string, Rate>

export const requestsOfUser = {
  core: { name: 'coreOfUser', seconds: 60, setting: ofCore, times: userPart },
  standard: { name: 'standardOfUser', seconds: 60, setting: ofStandard, times: userPart },
} satisfies Record<keyof typeof requestsOfApp, Rate>

export const keyedWriteRate: Rate = {
  name: 'keyedWrite',
  seconds: 3600,
  setting: {
    variable: 'PARLEY_LIMIT_KEYED_WRITES',
    about: "Requests with an Idempotency-Key an hour that a user's client may make",
    usual: 1_800,
  },
}

export const connectRate: Rate = {
  name: 'connect',
  seconds: 60,
  setting: {
    variable: 'PARLEY_LIMIT_CONNECTS',
    about: 'Times a minute that the devices of a user may connect',
    usual: 200,
  },
}

export const requestRates: Rate[] = [
  ...Object.values(requestsOfApp),
  ...Object.values(requestsOfUser),
  keyedWriteRate,
  connectRate,
]
