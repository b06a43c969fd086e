import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { addMissingUsers } from '../server/src/areas/users/store.ts'
import { workIn } from '../server/src/common/work-in.ts'
import { openHouse } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'

/**
 * A million users in a few minutes, written by Parley's own code in large transactions. They joined evenly over three
 * years. Their names come from several languages, and one in ten thousand has a family name that nobody else has.
 */

const firstNames = 'Amara Björn Chiara Dmitri Elif Farouk Grace Hana Ivan Jonas Kenji Lucía Mei Nora Omar Priya'.split(
  ' ',
)
const lastNames =
  'Adeyemi Brandt Castellano Demir Eriksson Ferrer García Hoffmann Ito Jansen Kowalski Lindqvist Müller Nguyễn'.split(
    ' ',
  )
const otherScripts = [
  '田中 花子',
  'Анна Петрова',
  'محمد علي',
  'अनिता शर्मा',
  'สมชาย ใจดี',
  '김민준',
  'Γιώργος Παπάς',
  'דנה כהן',
]
const otherScriptEvery = 16

export const rareName = 'Zyxwick'
const rareEvery = 10_000

const usersPerTransaction = 2_000
const lanes = 4
const threeYearsSeconds = 3 * 365 * 24 * 3600

interface Place {
  data: string
  environment: Record<string, string>
  appId: string
}

export async function loadUsers({ data, environment, appId }: Place, wanted: number): Promise<void> {
  const house = await openHouse(readConfig({ ...environment, PARLEY_DATA: data }), pino({ level: 'silent' }))
  const { database } = house
  const now = Math.floor(Date.now() / 1000)
  try {
    let next = 0
    const addSome = async () => {
      while (next < wanted) {
        const first = next
        next += usersPerTransaction
        const at = now - Math.floor(((wanted - first) * threeYearsSeconds) / wanted)
        const users = Array.from({ length: Math.min(usersPerTransaction, wanted - first) }, (_, n) => userAt(first + n))
        await database.write((connection) => addMissingUsers(workIn(connection, appId, house.tools, at), users))
        // Whatever else the process does must come to its turn.
        await pause(0)
      }
    }
    // On PostgreSQL most of the time goes by between statements.
    await Promise.all(Array.from({ length: environment.PARLEY_DATABASE_URL ? lanes : 1 }, addSome))
    // What its own housekeeping would do a minute later; SQLite has none, and must do without.
    if (environment.PARLEY_DATABASE_URL) await database.reader.run('ANALYZE', [])
  } finally {
    await house.close()
  }
}

export function uidAt(n: number): string {
  return `user-${n.toString(36).padStart(6, '0')}`
}

function userAt(n: number) {
  return {
    uid: uidAt(n),
    name: nameAt(n),
    avatar: `https://people.example.org/${uidAt(n)}.png`,
    metadata: { plan: n % 3 === 0 ? 'team' : 'free', seat: n },
    tags: [n % 100 === 0 ? 'pilot' : 'everyone'],
  }
}

function nameAt(n: number): string {
  if (n % otherScriptEvery === 7) return otherScripts[Math.floor(n / otherScriptEvery) % otherScripts.length] as string
  const first = firstNames[n % firstNames.length]
  if (n % rareEvery === 1) return `${first} ${rareName}`
  return `${first} ${lastNames[Math.floor(n / firstNames.length) % lastNames.length]}`
}
