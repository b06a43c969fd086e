import { pino } from 'pino'
import { sendMessage, speakerFor } from '../server/src/areas/messages/index.ts'
import { openRows, placeOfGroup } from '../server/src/areas/timeline/index.ts'
import { addMissingUsers } from '../server/src/areas/users/index.ts'
import { openHouse } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import { type Work, workIn } from '../server/src/kit/work.ts'

/**
 * Conversations of every size, written by Parley's own code: one user with 2,000 conversations, groups of 10, 1,000 and
 * 100,000 members, and as many messages as are asked for, spread over all of them.
 */

export const busyUser = 'busy'
export const groupSizes = [10, 1_000, 100_000]
const conversations = 2_000
const perTransaction = 200
const rowsAtOnce = 2_000
export const rareWord = 'quartersawn'
const rareEvery = 10_000

const words =
  'oak ash beech walnut chair table bench drawer hinge varnish plane chisel today tomorrow please thanks'.split(' ')

/** What some say in other scripts, and a word of each to look for. */
export const otherScripts = [
  { text: '明日 椅子を運びます', word: '椅子' },
  { text: 'Стул будет готов завтра', word: 'Стул' },
  { text: 'الكرسي جاهز غدا', word: 'الكرسي' },
  { text: 'कुर्सी कल तैयार होगी', word: 'कुर्सी' },
]
const otherScriptEvery = 25

/** Six words that differ from message to message. */
export function textAt(n: number): string {
  return [0, 1, 2, 3, 4, 5].map((k) => words[(n * 7 + k * k * 3) % words.length]).join(' ')
}

function otherTextAt(n: number): string {
  return otherScripts[Math.floor(n / otherScriptEvery) % otherScripts.length]?.text ?? ''
}

interface Place {
  data: string
  appId: string
}

export const groupOf = (size: number) => `group-of-${size}`
export const partnerAt = (n: number) => `partner-${n}`

export async function loadMessages({ data, appId }: Place, wanted: number): Promise<void> {
  const house = await openHouse(readConfig({ PARLEY_DATA: data }), pino({ level: 'silent' }))
  const inApp = <T>(run: (work: Work) => Promise<T>) =>
    house.database.write((connection) => run(workIn(connection, appId, house.tools)))
  try {
    const uids = [busyUser, ...Array.from({ length: conversations }, (_, n) => partnerAt(n))]
    await inApp(({ db, now }) =>
      addMissingUsers(
        db,
        uids.map((uid) => ({ uid, name: uid })),
        now,
      ),
    )
    for (const size of groupSizes) await makeGroup(inApp, size)
    for (let first = 0; first < wanted; first += perTransaction) {
      await inApp(async (work) => {
        const speakers = new Map<string, Awaited<ReturnType<typeof speakerFor>>>()
        for (let n = first; n < Math.min(wanted, first + perTransaction); n += 1) await sendOne(work, n, speakers)
      })
    }
  } finally {
    await house.close()
  }
}

/** Members of a large group need no users of their own to be counted and waited for. */
async function makeGroup(inApp: <T>(run: (work: Work) => Promise<T>) => Promise<T>, size: number): Promise<void> {
  const guid = groupOf(size)
  await inApp(async (work) => {
    const { createWithMembers } = await import('../server/src/areas/groups/index.ts')
    await createWithMembers(work, undefined, { guid, name: guid, owner: busyUser } as never)
  })
  for (let first = 0; first < size; first += rowsAtOnce) {
    const some = Array.from({ length: Math.min(rowsAtOnce, size - first) }, (_, n) => `member-${first + n}`)
    await inApp(({ db, now }) => openRows(db, placeOfGroup(guid), some, now))
  }
}

async function sendOne(work: Work, n: number, speakers: Map<string, Awaited<ReturnType<typeof speakerFor>>>) {
  const partner = partnerAt(n % conversations)
  // Another fifth in each round, so that there is a conversation with every partner.
  const toGroup = (n + Math.floor(n / conversations)) % 5 === 4
  const from = n % 2 === 0 || toGroup ? busyUser : partner
  const speaker = speakers.get(from) ?? (await speakerFor(work.db, { uid: from, role: 'default', roleId: null }))
  speakers.set(from, speaker)
  const text = n % otherScriptEvery === 3 ? otherTextAt(n) : textAt(n)
  await sendMessage(
    work,
    { ...speaker, actor: undefined },
    {
      receiver: toGroup ? groupOf(groupSizes[n % 3] as number) : from === busyUser ? partner : busyUser,
      receiverType: toGroup ? 'group' : 'user',
      data: { text: n % rareEvery === 1 ? `${text} ${rareWord}` : text },
    },
  )
}
