import { seedDemo } from '../install/seed.ts'
import { type Command, withHouse } from './command.ts'

export const seed: Command = {
  name: 'seed',
  usage: ['parley seed'],
  about: 'Create the demo app with users, groups and a month of calls, unless it exists.',
  run: ({ config }) =>
    withHouse(config, async (house) => {
      const { appId, created } = await seedDemo(house)
      const text = created ? `Created the demo app ${appId}.` : `The demo app ${appId} exists already.`
      return { text, data: { appId, created } }
    }),
}
