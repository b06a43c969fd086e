import type { Generated, Kysely, Selectable } from 'kysely'
import type { Migrations } from '../../storage/migrate.ts'
import type { Tables } from '../../storage/tables.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    calls: CallTable
    call_facts: CallFactRow
    call_members: CallMemberTable
    call_signs: CallSignRow
  }
}

/** The answered document beside what lists filter and order by. All of it can be recomputed from `call_facts`. */
interface CallTable {
  app_id: string
  session_id: string
  initiated_at: number
  ended_at: number | null
  /** The values that list filters compare, in one column; see `facetsOfCall`. */
  facets: string
  /** 1 until the call is final: its minutes still run, so the document is computed when it is read. */
  live: number
  /** The GUID of the group whose call it is, until the call is final. */
  live_in_group: Generated<string | null>
  /** The record as JSON text, as lists answer it, without transcripts. */
  document: string
  /** What only the single record shows: `"metaData":…,"tags":…`. */
  extras: string
  /** The newest transcripts as JSON text, if there are any. */
  transcriptions: string | null
  fact_count: number
  updated_at: Generated<number>
  /** The newest message that tells of it in its conversation. */
  message_id: Generated<number | null>
}

export type CallRow = Selectable<CallTable>

/** The ledger: only ever added to. */
export interface CallFactRow {
  app_id: string
  session_id: string
  number: number
  recorded_at: number
  fact: string
}

/** Who has a part in a call: participants, the caller, and the receiver if a user. */
interface CallMemberTable {
  app_id: string
  uid: string
  session_id: string
  initiated_at: number
  /** 1 where this user has placed the call. */
  placed: Generated<number>
  /** The GUID of the group whose call it is. */
  guid: Generated<string | null>
}

export type CallMemberRow = Selectable<CallMemberTable>

/** When a device that is in a live call was last heard of; see signs.ts. */
export interface CallSignRow {
  app_id: string
  session_id: string
  uid: string
  device_id: string
  seen_at: number
}

export const migrations: Migrations = {
  '20261101-calls': async ({ schema }) => {
    await schema
      .createTable('calls')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('session_id', 'text', (column) => column.notNull())
      .addColumn('initiated_at', 'bigint', (column) => column.notNull())
      .addColumn('ended_at', 'bigint')
      .addColumn('facets', 'text', (column) => column.notNull())
      .addColumn('live', 'bigint', (column) => column.notNull())
      .addColumn('document', 'text', (column) => column.notNull())
      .addColumn('extras', 'text', (column) => column.notNull())
      .addColumn('transcriptions', 'text')
      .addColumn('fact_count', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull().defaultTo(0))
      .addPrimaryKeyConstraint('calls_key', ['app_id', 'session_id'])
      .execute()
    // Lists are walked by time; a filter that wants few calls goes by facets first.
    await schema
      .createIndex('calls_by_time')
      .on('calls')
      .columns(['app_id', 'initiated_at desc', 'session_id', 'facets', 'ended_at'])
      .execute()
    await schema
      .createIndex('calls_by_facets')
      .on('calls')
      .columns(['app_id', 'facets', 'initiated_at desc', 'session_id'])
      .execute()
    await schema
      .createTable('call_facts')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('session_id', 'text', (column) => column.notNull())
      .addColumn('number', 'bigint', (column) => column.notNull())
      .addColumn('recorded_at', 'bigint', (column) => column.notNull())
      .addColumn('fact', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('call_facts_key', ['app_id', 'session_id', 'number'])
      .execute()
    await schema
      .createTable('call_members')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull())
      .addColumn('session_id', 'text', (column) => column.notNull())
      .addColumn('initiated_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('call_members_key', ['app_id', 'session_id', 'uid'])
      .execute()
    await schema
      .createIndex('call_members_by_time')
      .on('call_members')
      .columns(['app_id', 'uid', 'initiated_at desc', 'session_id'])
      .execute()
    await schema
      .createTable('call_signs')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('session_id', 'text', (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull())
      .addColumn('device_id', 'text', (column) => column.notNull())
      .addColumn('seen_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('call_signs_key', ['app_id', 'session_id', 'uid', 'device_id'])
      .execute()
  },
  '20261115-calls-in-groups': async (database) => {
    const { schema } = database
    await schema.alterTable('calls').addColumn('live_in_group', 'text').execute()
    await schema
      .createIndex('calls_live_in_group')
      .on('calls')
      .columns(['app_id', 'live_in_group'])
      .where('live_in_group', 'is not', null)
      .execute()
    for (const { id } of await database.selectFrom('apps').select('id').execute()) await noteGroups(database, id)
  },
  // A device has a row from the moment it joins; those that are there already get theirs.
  '20261124-signs-of-life': async (database) => {
    for (const { id } of await database.selectFrom('apps').select('id').execute()) await noteDevices(database, id)
  },
  '20261201-ringing': async ({ schema }) => {
    await schema.alterTable('calls').addColumn('message_id', 'bigint').execute()
    // Whether somebody is in a call.
    await schema.createIndex('call_signs_by_user').on('call_signs').columns(['app_id', 'uid', 'session_id']).execute()
  },
  '20261202-sides-of-calls': async (database) => {
    const { schema } = database
    await schema
      .alterTable('call_members')
      .addColumn('placed', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
    await schema.alterTable('call_members').addColumn('guid', 'text').execute()
    for (const { id } of await database.selectFrom('apps').select('id').execute()) await noteSides(database, id)
    // Users who count their calls of one side, or in one group, read nothing but the index.
    await schema.dropIndex('call_members_by_time').execute()
    await schema
      .createIndex('call_members_by_time')
      .on('call_members')
      .columns(['app_id', 'uid', 'initiated_at desc', 'session_id', 'placed', 'guid'])
      .execute()
  },
}

const callsAtOnce = 500

/** Who placed each call that is there already, and in which group. */
async function noteSides(database: Kysely<Tables>, appId: string): Promise<void> {
  for (let last = ''; ; ) {
    const calls = await database
      .selectFrom('calls')
      .select(['calls.session_id', 'calls.document'])
      .where('calls.app_id', '=', appId)
      .where('calls.session_id', '>', last)
      .orderBy('calls.session_id')
      .limit(callsAtOnce)
      .execute()
    for (const { session_id, document } of calls) await noteSidesOf(database, appId, session_id, JSON.parse(document))
    if (calls.length < callsAtOnce) return
    last = calls.at(-1)?.session_id ?? ''
  }
}

async function noteSidesOf(
  database: Kysely<Tables>,
  appId: string,
  sessionId: string,
  { initiator, receiver, receiverType }: { initiator: string; receiver: string; receiverType: string },
): Promise<void> {
  const members = database
    .updateTable('call_members')
    .where('call_members.app_id', '=', appId)
    .where('call_members.session_id', '=', sessionId)
  await members.set({ placed: 1 }).where('call_members.uid', '=', initiator).execute()
  if (receiverType === 'group') await members.set({ guid: receiver }).execute()
}

async function noteDevices(database: Kysely<Tables>, appId: string): Promise<void> {
  const calls = await database
    .selectFrom('calls')
    .select(['calls.session_id', 'calls.document'])
    .where('calls.app_id', '=', appId)
    .where('calls.live', '=', 1)
    .execute()
  for (const { session_id, document } of calls) {
    const known = await database
      .deleteFrom('call_signs')
      .where('app_id', '=', appId)
      .where('session_id', '=', session_id)
      .returningAll()
      .execute()
    for (const { uid, deviceId, state, joinedAt } of JSON.parse(document).participants) {
      if (state !== 'ongoing') continue
      const seen_at = known.find((row) => row.uid === uid && row.device_id === deviceId)?.seen_at ?? joinedAt
      await database
        .insertInto('call_signs')
        .values({ app_id: appId, session_id, uid, device_id: deviceId, seen_at })
        .execute()
    }
  }
}

/** Calls that were going on before it was noted in which group. */
async function noteGroups(database: Kysely<Tables>, appId: string): Promise<void> {
  const calls = await database
    .selectFrom('calls')
    .select(['calls.session_id', 'calls.document'])
    .where('calls.app_id', '=', appId)
    .where('calls.live', '=', 1)
    .execute()
  for (const { session_id, document } of calls) {
    const { receiver, receiverType } = JSON.parse(document)
    if (receiverType !== 'group') continue
    await database
      .updateTable('calls')
      .set({ live_in_group: receiver })
      .where('app_id', '=', appId)
      .where('session_id', '=', session_id)
      .execute()
  }
}
