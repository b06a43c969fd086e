import assert from 'node:assert/strict'
import type { DatabaseName } from './databases.ts'
import { type AppClient, type Caller, callerAt, type House } from './house.ts'
import type { Answer } from './http.ts'
import { as, clientOf } from './talk.ts'

/**
 * Tables of who may do what, as they are read: a line for each act, a column for each who might do it, in every cell
 * the answer. `ok` is a success, `absent` a list without what is looked for, and every other word a refusal. Where the
 * doors answer differently, a cell has both answers: `server|client`.
 */

const refusals: Record<string, string> = {
  needsActor: 'ERR_BAD_REQUEST',
  denied: 'ERR_PERMISSION_DENIED',
  wrongDoor: 'AUTH_ERR_NO_ACCESS',
  iBlocked: 'ERR_BLOCKED_RECEIVER',
  blockedMe: 'ERR_BLOCKED_SENDER',
  noAccess: 'ERR_MESSAGE_NO_ACCESS',
  notSender: 'ERR_MESSAGE_NOT_A_SENDER',
  notAllowed: 'ERR_MESSAGE_ACTION_NOT_ALLOWED',
  wrongThread: 'ERR_WRONG_MESSAGE_THREAD',
  noTalk: 'ERR_CONVERSATION_NOT_ACCESSIBLE',
  noCall: 'ERR_CALL_SESSION_NOT_FOUND',
  noPart: 'ERR_CALL_NOT_A_PART',
  notJoined: 'ERR_GROUP_NOT_JOINED',
  joined: 'ERR_ALREADY_JOINED',
  notMember: 'ERR_NOT_A_MEMBER',
  closed: 'ERR_GROUP_JOIN_NOT_ALLOWED',
  wrongPass: 'ERR_WRONG_GROUP_PASS',
  banned: 'ERR_BANNED_GROUPMEMBER',
  notAdmin: 'ERR_GROUP_NO_ADMIN_SCOPE',
  notMod: 'ERR_GROUP_NO_MODERATOR_SCOPE',
  noClear: 'ERR_GROUP_NO_CLEARANCE',
  noScope: 'ERR_GROUP_NO_SCOPE_CLEARANCE',
  noSelf: 'ERR_GROUP_NO_SELF_ACTION',
}
const words = new Map(Object.entries(refusals).map(([word, code]) => [code, word]))
const successes = new Set(['ok', 'absent'])
const known = new Set([...Object.keys(refusals), ...successes])

export type Line = Record<string, string>

/** The lines of a table, each by the words of its first line; no cell may be missing. */
export function linesOf(table: string): Line[] {
  const [head = [], ...rows] = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  return rows.map((cells) => {
    assert.equal(cells.length, head.length, `every column has a cell: ${cells.join(' ')}`)
    return Object.fromEntries(head.map((name, n) => [name, cells[n] ?? '']))
  })
}

/** The word for an answer, as the tables have it. */
export function wordFor({ status, body, text }: Answer): string {
  if (status === 200) return 'ok'
  return words.get(body?.error?.code) ?? text
}

/** The word for a list: whether one of its entries is as it should be. */
export function wordForList(answer: Answer, isIt: (entry: Record<string, unknown>) => boolean): string {
  if (answer.status !== 200) return wordFor(answer)
  return answer.body.data.some(isIt) ? 'ok' : 'absent'
}

/** The word for one entry of what is answered entry by entry. */
export function wordForEntry(answer: Answer, entryIn: (data: Answer['body']) => Answer['body']): string {
  if (answer.status !== 200) return wordFor(answer)
  const { success, error } = entryIn(answer.body.data)
  return success ? 'ok' : (words.get(error.code) ?? answer.text)
}

/** What a cell says of one of the doors. */
function expectedAt(cell: string | undefined, door: Door['name']): string {
  const [server = '', client = server] = (cell ?? '').split('|')
  return door === 'server' ? server : client
}

/**
 * What is refused is refused by the same code on every database, so one of them will do. What succeeds, or is left out of
 * a list, depends on statements that each database has in its own words; doors that answer alike ask it alike.
 */
export function isTriedOn(database: DatabaseName, cell: string | undefined, door: Door['name']): boolean {
  if (database === 'sqlite') return true
  const expected = expectedAt(cell, door)
  return successes.has(expected) && (door === 'server' || expected !== expectedAt(cell, 'server'))
}

export interface Door {
  name: 'server' | 'client'
  caller: Caller
}

/** The ways in: the app itself has its own; a user's server acts on their behalf, and their client is themself. */
export async function doorsFor(h: House, app: AppClient, uid: string | undefined): Promise<Door[]> {
  if (uid === undefined) return [{ name: 'server', caller: app }]
  return [
    { name: 'server', caller: callerAt(h.client, app.host, '/v3', { apikey: app.apiKey, ...as(uid) }) },
    { name: 'client', caller: await clientOf(h, app, uid) },
  ]
}

/** Compares answers with cells; what differs is told at the end, all of it. */
export class Comparison {
  #wrong: string[] = []

  check(cell: string | undefined, door: Door['name'], word: string, where: string): void {
    const expected = expectedAt(cell, door)
    assert.ok(known.has(expected), `${where}: ${expected} is no answer`)
    if (word !== expected) this.#wrong.push(`${where}, ${door}: ${word}, not ${expected}`)
  }

  end(): void {
    assert.deepEqual(this.#wrong, [])
  }
}
