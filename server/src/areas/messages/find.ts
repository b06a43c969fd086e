import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Actor } from '../../kit/operation.ts'
import { hasShortWordsOnly, type Search } from '../../storage/grams.ts'
import { lookUpEach } from '../../storage/plans.ts'
import { countMatching, findsFirst, firstPlaces, matches, placesMatching } from '../../storage/search.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { findConversation, lookedAtMax, notErased, visibleTo } from '../timeline/index.ts'
import { seenBy } from '../users/index.ts'
import { mostIn } from './amount.ts'
import { beyondCursors, type Condition, type Named, sentBy } from './filters.ts'
import { fieldWithoutPeople } from './store.ts'
import { beyond, direction, type Ids, idsOf, type Quest, type WayAffix, type WayScope, walk } from './ways.ts'

/** What a list asks for, in one form for all the ways in which it can be answered. */
export interface WantedMessages extends Pick<Quest, 'conditions' | 'isNarrowed' | 'after'> {
  search: Search | undefined
  /** Which ids other tables tell; the conditions say so, too. */
  named: Named[]
  senders: string[]
  past?: number | undefined
}

/**
 * The ids of the first messages of a scope, from the oldest on or from the newest back: gathered from what a search or
 * another table tells, if that is little, else met on a walk.
 */
export async function findIds(
  db: TenantDb,
  scope: WayScope,
  { search, named, senders, ...wanted }: WantedMessages,
  affix: WayAffix,
  limit: number,
): Promise<Ids> {
  const quest = { past: undefined, ...wanted, affix, limit }
  const few = named.find(({ isFew }) => isFew)
  if (few) return gather(db, scope, few.ids, senders, search ? thatMatch(db, search, quest) : quest)
  if (search) return searched(db, scope, search, senders, quest)
  const [some] = named
  if (some) db.leaveSharedReader()
  if (some && (await hasFew(db, some.ids, await worthGathering(db, scope, limit)))) {
    return gather(db, scope, some.ids, senders, quest)
  }
  return walk(db, scope, senders, quest)
}

/** The same, and each message is asked for the words. */
function thatMatch(db: TenantDb, search: Search, quest: Quest): Quest {
  return { ...quest, conditions: [...quest.conditions, eachMatches(db, search)], isNarrowed: true }
}

// Nobody counts all messages of an app for this; it only has to be large.
const appSize = 1_000_000
// To walk through all conversations of a user costs more than through an app.
const gatheredOfViewer = 20_000

/** Up to so many hits are fetched and sorted; where more match, walking in order is soon done. */
async function worthGathering(db: TenantDb, scope: WayScope, limit: number): Promise<number> {
  const ofSize = (size: number) => Math.floor(Math.sqrt(size * limit))
  switch (scope.kind) {
    case 'viewer':
      return gatheredOfViewer
    case 'app':
      return ofSize(appSize)
    case 'conversation':
      return ofSize((await findConversation(db, scope.conversationKey))?.last_seq ?? 0)
    case 'conversations':
      return Math.max(0, ...(await Promise.all(scope.among.map((each) => worthGathering(db, each, limit)))))
    case 'thread':
      return 0
  }
}

// Of so many hits for each message that is wanted, the filters mostly leave enough; one tries with few, then with more.
const hitsPerWanted = [2, 20]

/**
 * Where there is little to see, all of it is looked at. Else the first few hits mostly fill the page; they are asked for at
 * once where the index gives hits in their order, and where it does not, if there are not too many to sort. Else the hits
 * are gathered if they are few, and looked for on the way through the messages if they are many: for a user, first among
 * what is next in the app, since a walk through conversations goes to the end of each that does not have the word.
 *
 * A short word costs the index the more, the more messages have it; so one first looks at the messages that are next.
 */
async function searched(db: TenantDb, scope: WayScope, search: Search, senders: string[], quest: Quest): Promise<Ids> {
  const { past, affix, limit } = quest
  const matching = thatMatch(db, search, quest)
  const isShort = hasShortWordsOnly(search)
  if ((await mostIn(db, scope, quest.after)) <= quickerThanIndex(scope, search)) {
    return walk(db, scope, senders, matching)
  }
  const around = isShort ? await gather(db, scope, nextIn(db, scope, quest), senders, matching) : []
  if (around.length === limit) return around
  const near = limit * Math.max(...hitsPerWanted)
  const nearest = async () => {
    let found: number[] = []
    for (const each of hitsPerWanted) {
      const places = firstPlaces(db, search, { limit: limit * each, upwards: affix === 'append', past })
      found = await gather(db, scope, places, senders, quest)
      if (found.length === limit) break
    }
    return found
  }
  const first = findsFirst(db) && !isShort ? await nearest() : undefined
  if (first?.length === limit) return first
  const few = await worthGathering(db, scope, limit)
  const hits = await countMatching(db, search, Math.max(few, near) + 1)
  const found = first ?? (hits <= few && !isShort ? await nearest() : undefined)
  if (found && (found.length === limit || hits <= near)) return found
  if (hits <= few) return gather(db, scope, placesMatching(db, search), senders, quest)
  if (scope.kind === 'viewer' && !first && !isShort) {
    const next = await gather(db, scope, nextIn(db, scope, quest), senders, matching)
    if (next.length === limit) return next
  }
  return walk(db, scope, senders, matching)
}

const quickerThanLongWord = 500

/** Up to how many messages are sooner looked at than found. The index knows the conversation of each, but not who sees it. */
function quickerThanIndex(scope: WayScope, search: Search): number {
  if (hasShortWordsOnly(search)) return lookedAtMax
  return scope.kind === 'conversation' ? 0 : quickerThanLongWord
}

// Of so many messages for each that is wanted, a common word is mostly in enough.
const messagesPerWanted = 100

/** The next messages of a scope; for a user those of the app, whoever sees them: where one sees much, they are enough. */
function nextIn(db: TenantDb, scope: WayScope, quest: Quest): RawBuilder<number> {
  const narrow = scope.kind === 'conversation' || scope.kind === 'thread' ? isIn(db, scope) : []
  const order = scope.kind === 'conversation' ? sql`messages.seq` : sql`messages.id`
  const all = [sql`messages.app_id = ${db.appId}`, ...narrow, ...beyond(quest)]
  return sql`(SELECT messages.id FROM messages WHERE ${sql.join(all, sql` AND `)}
    ORDER BY ${order} ${direction(quest.affix)} LIMIT ${quest.limit * messagesPerWanted})`
}

async function hasFew(db: TenantDb, ids: RawBuilder<number>, most: number): Promise<boolean> {
  const [row] = await db.sql<{ n: number }>`SELECT count(*) AS n FROM (SELECT 1 AS one FROM ${ids} AS named
    LIMIT ${most + 1}) AS counted`.execute()
  return (row?.n ?? 0) <= most
}

/** The words asked of one message after the other. */
export function eachMatches(db: TenantDb, search: Search): Condition {
  return matches(db, search, sql`CAST(messages.id AS text)`) as Condition
}

/** Nobody learns the name of a user whom they may not see by searching for it: the words must be in the rest. */
export async function notByHiddenNames(
  db: TenantDb,
  search: Search | undefined,
  viewer: Actor | undefined,
): Promise<Condition[]> {
  const seen = search && viewer && (await seenBy(db, viewer))
  if (!search || !seen) return []
  const hidden = sql`SELECT 1 FROM message_mentions WHERE message_mentions.app_id = ${db.appId}
    AND message_mentions.message_id = messages.id AND NOT EXISTS (SELECT 1 FROM users
      WHERE users.app_id = ${db.appId} AND users.uid = message_mentions.uid AND ${seen})`
  const inRest = eachMatches(db, { ...search, fields: [fieldWithoutPeople] })
  return [sql`(messages.flags NOT LIKE '%m%' OR NOT EXISTS (${hidden}) OR ${inRest})`]
}

/** A statement on the messages at some places, each looked up by its id; conditions may follow. */
export function messagesAt(
  db: TenantDb,
  places: RawBuilder<unknown>,
  select: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return lookUpEach(db, {
    few: places,
    name: 'hit',
    columns: ['id'],
    select,
    table: 'messages',
    match: sql`messages.id = hit.id`,
  })
}

function gather(
  db: TenantDb,
  scope: WayScope,
  places: RawBuilder<unknown>,
  senders: string[],
  quest: Quest,
): Promise<number[]> {
  const { conditions, after, affix, limit } = quest
  const all = [
    sql`messages.purged = 0`,
    ...isIn(db, scope),
    ...beyond(quest),
    ...beyondCursors(db, after.uid, after.cursors),
    ...sentBy(senders),
    ...conditions,
  ]
  const hits = messagesAt(db, places, sql`messages.id`)
  return idsOf(
    db,
    sql`${hits} AND ${sql.join(all, sql` AND `)} ORDER BY messages.id ${direction(affix)} LIMIT ${limit}`,
  )
}

/** Whether a message is in a scope, asked of one after the other. */
function isIn(db: TenantDb, scope: WayScope): Condition[] {
  switch (scope.kind) {
    case 'app':
      return [notErased(db)]
    case 'viewer':
      return [visibleTo(db, scope.uid)]
    case 'thread':
      return [sql`messages.parent_id = ${scope.parentId}`]
    case 'conversation':
      return [
        sql<SqlBool>`messages.conversation_key = ${scope.conversationKey}`,
        sql`messages.seq > ${scope.clearedSeq}`,
      ]
    case 'conversations': {
      const each = scope.among.map((one) => sql<SqlBool>`(${sql.join(isIn(db, one), sql` AND `)})`)
      return [each.length === 0 ? sql`1 = 0` : sql`(${sql.join(each, sql` OR `)})`]
    }
  }
}
