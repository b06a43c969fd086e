import { pino } from 'pino'
import { sendMessage, speakerFor } from '../server/src/areas/messages/index.ts'
import { workIn } from '../server/src/common/work-in.ts'
import { openHouse } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import type { InApp } from '../server/src/kit/work.ts'
import { addPeople, makeGroup } from './load-crowd.ts'
import { textAt } from './load-messages.ts'

/** Somebody with a group in which very much was said, and with very many conversations beside it. */

export const reader = 'reader'
export const longGroup = 'long'
export const conversationsCount = 2_000

const speakers = ['castor', 'pollux', reader]
const messagesAtOnce = 200
const writerAt = (n: number) => `writer-${n}`

interface Saying {
  from: string
  receiver: string
  receiverType: 'user' | 'group'
  text: string
}

export async function loadReader({ data, appId }: { data: string; appId: string }, messages: number): Promise<void> {
  const house = await openHouse(readConfig({ PARLEY_DATA: data }), pino({ level: 'silent' }))
  const inApp: InApp = (run) => house.database.write((connection) => run(workIn(connection, appId, house.tools)))
  const writers = Array.from({ length: conversationsCount - 1 }, (_, n) => writerAt(n))
  try {
    await addPeople(inApp, [...speakers, ...writers])
    await makeGroup(inApp, longGroup, speakers)
    await say(
      inApp,
      writers.map((from, n) => ({ from, receiver: reader, receiverType: 'user', text: textAt(n) })),
    )
    await say(
      inApp,
      Array.from({ length: messages }, (_, n) => inGroup(n)),
    )
    await house.workers.settle()
  } finally {
    await house.close()
  }
}

/** Runs of one to three, from a few words to a dozen lines. */
function inGroup(n: number): Saying {
  const from = speakers[Math.floor(n / 2) % 7 < 3 ? n % 2 : 2] ?? reader
  const text = Array.from({ length: 1 + ((n * n) % 11) }, (_, k) => textAt(n + k)).join(' ')
  return { from, receiver: longGroup, receiverType: 'group', text: `${n + 1}. ${text}` }
}

async function say(inApp: InApp, sayings: Saying[]): Promise<void> {
  for (let first = 0; first < sayings.length; first += messagesAtOnce) {
    await inApp(async (work) => {
      for (const { from, text, ...to } of sayings.slice(first, first + messagesAtOnce)) {
        const speaker = await speakerFor(work, { uid: from, role: 'default', roleId: null })
        await sendMessage(work, { ...speaker, actor: undefined }, { ...to, data: { text } })
      }
    })
  }
}
