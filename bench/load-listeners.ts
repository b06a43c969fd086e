import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { firstToken } from '../server/src/areas/auth-tokens/store.ts'
import { usersByUid } from '../server/src/areas/users/index.ts'
import { openHouse } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import { type InApp, workIn } from '../server/src/kit/work.ts'
import { addPeople, enter, makeGroup } from './load-crowd.ts'

/** Users with a token each, all of them in the same groups, and a speaker whom they listen to. */

export const speaker = 'speaker'
export const listenerAt = (n: number) => `listener-${n}`
export const hallAt = (n: number) => `hall-${n}`
export const hallsCount = 50
/** A group of a few of them. */
export const parlour = 'parlour'
export const parlourSize = 10
export const tokensFile = 'tokens.json'

const usersAtOnce = 1_000

export async function loadListeners({ data, appId }: { data: string; appId: string }, count: number): Promise<void> {
  const house = await openHouse(readConfig({ PARLEY_DATA: data }), pino({ level: 'silent' }))
  const inApp: InApp = (run) => house.database.write((connection) => run(workIn(connection, appId, house.tools)))
  const tokens: string[] = []
  try {
    await addPeople(inApp, [speaker])
    const halls = Array.from({ length: hallsCount }, (_, n) => hallAt(n))
    for (const guid of [...halls, parlour]) await makeGroup(inApp, guid, [speaker])
    for (let first = 0; first < count; first += usersAtOnce) {
      const some = Array.from({ length: Math.min(usersAtOnce, count - first) }, (_, n) => listenerAt(first + n))
      await addPeople(inApp, some)
      for (const guid of halls) await enter(inApp, guid, some)
      tokens.push(
        ...(await inApp(async (work) => {
          const users = await usersByUid(work.db, some)
          const given: string[] = []
          for (const uid of some) given.push(await firstToken(work, users.get(uid) as never))
          return given
        })),
      )
    }
    await enter(
      inApp,
      parlour,
      Array.from({ length: parlourSize }, (_, n) => listenerAt(n)),
    )
    await house.workers.settle()
  } finally {
    await house.close()
  }
  writeFileSync(join(data, tokensFile), JSON.stringify(tokens))
}
