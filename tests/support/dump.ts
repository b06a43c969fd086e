import assert from 'node:assert/strict'
import { houseInstallTables, houseTables } from '../../server/src/storage/tables.ts'
import type { House } from './house.ts'
import { acrossApps } from './tripwire.ts'

/** Every row of every table, as sorted JSON lines by table. */
export type Dump = Record<string, string[]>

/** Where workers stand in their own work; it moves by itself and says nothing about what a request changed. */
const workersOwn = ['leases', 'followers']

export async function dump({ service }: House): Promise<Dump> {
  const { database, areas } = service.house
  const ofAreas = areas.flatMap(({ tables, installTables }) => [...tables, ...installTables])
  const tables = [...houseTables, ...houseInstallTables, ...ofAreas].filter((table) => !workersOwn.includes(table))
  const contents = await acrossApps(() => Promise.all(tables.map((table) => rowsOf(database.reader, table))))
  return Object.fromEntries(tables.map((table, index) => [table, contents[index] ?? []]))
}

async function rowsOf({ run }: House['service']['house']['database']['reader'], table: string): Promise<string[]> {
  const { rows } = await run(`SELECT * FROM "${table}"`, [])
  return (rows as object[]).map((row) => JSON.stringify(row)).toSorted()
}

/** The rows that belong to one app, in all tables. */
export function rowsOfApp(contents: Dump, appId: string): string[] {
  return Object.values(contents)
    .flat()
    .filter((row) => row.includes(appId))
}

/** Remembers all rows now; the answer fails once they have changed. */
export async function nothingChanges(house: House): Promise<(after: string) => Promise<void>> {
  await house.settle()
  const before = await dumpAtRest(house)
  return async (after) => assert.deepEqual(await dumpAtRest(house), before, `the database has changed after ${after}`)
}

/** When somebody was last active is noted some seconds after they went, whatever is done meanwhile. */
async function dumpAtRest(house: House): Promise<Dump> {
  const all = await dump(house)
  const users = all.users?.map((row) => row.replace(/"last_active_at":(null|\d+),/, '')) ?? []
  return { ...all, users: users.toSorted() }
}
