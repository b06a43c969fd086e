import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { type Planned, plannedFor } from '../../../../tests/support/plans.ts'
import { appWith, as, asking } from '../../../../tests/support/talk.ts'
import { acrossApps } from '../../../../tests/support/tripwire.ts'
import { workIn } from '../../common/work-in.ts'
import type { Actor } from '../../kit/operation.ts'
import { putSearchEntries, removeSearchEntries } from '../../storage/search.ts'
import { type TenantDb, tenantDb } from '../../storage/tenant.ts'
import { addMentions, placeOfUsers, writeMessage } from '../timeline/index.ts'
import { readStretch } from './list.ts'
import { messagesOfUser } from './list-of-user.ts'
import type { MessageListQuery } from './schemas.ts'
import { putTags } from './send.ts'
import { messagesList, searchEntry } from './store.ts'
import type { WayScope } from './ways.ts'

const partners = 12
const rounds = 100
const everything = partners * rounds

/** What narrows a list, alone or together with a search. */
const filters: Record<string, MessageListQuery> = {
  nothing: {},
  'times of sending': { 'sentAt[from]': 1, 'sentAt[to]': 9_999_999_999 },
  'times of changes': { 'updatedAt[from]': 1 },
  changes: { updatedAt: 1, onlyUpdates: true },
  'times of edits': { 'editedAt[from]': 1 },
  categories: { categories: ['message', 'custom'] },
  types: { types: ['text'] },
  attachments: { hasAttachments: false, hasLinks: false, hasMentions: false },
  reactions: { hasReactions: true },
  'kinds of files': { attachmentTypes: ['image'] },
  mentions: { mentionedUids: ['p3'] },
  senders: { senders: ['ada', 'p1'] },
  receivers: { receiverType: 'user' },
  tags: { tags: ['rare'] },
  deletion: { hideDeleted: true, hideReplies: true },
  pins: { pinned: true },
  'the end': { affix: 'prepend' },
  'what follows a message': { id: 300 },
  'what is before a message': { id: 900, affix: 'prepend' },
}
const ofViewer: Record<string, MessageListQuery> = {
  'what is not read': { unread: true },
  'what has not come': { undelivered: true },
  'one’s own mentions': { myMentionsOnly: true },
  'what is saved': { saved: true },
  'blocked users': { hideMessagesFromBlockedUsers: true },
}

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: PlanNode[]
}

const keyWith = (other: string) => placeOfUsers('ada', other).conversationKey

for (const database of databases) {
  describe(`ways through many messages on ${database}`, () => {
    let h: House
    let app: AppClient
    let lastId = 0
    let goneId = 0
    const actor: Actor = { uid: 'ada', role: 'default', roleId: null }
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'ada')
      await h.service.house.database.write(async (connection) => {
        for (let n = 0; n < everything; n += 1) {
          const other = `p${n % partners}`
          const rare = n % 400 === 7
          const mentions = rare ? ['p3', 'ada'] : []
          const work = workIn(connection, app.id, h.service.house.tools, 1_700_000_000 + n)
          const { db } = work
          const row = await writeMessage(work, placeOfUsers('ada', other), {
            ...{ sender: n % 3 === 0 ? 'ada' : other, receiver: n % 3 === 0 ? other : 'ada', category: 'message' },
            ...{
              type: 'text',
              data: { text: `plank ${rare ? 'walnut' : 'oak'} ${n}` },
              mentions: [],
            },
          })
          await addMentions(db, row, mentions)
          if (rare) await putTags(db, row.id, ['rare'])
          await putSearchEntries(db, messagesList, [searchEntry(row)])
          lastId = row.id
        }
      })
      assertSucceeds(await app.post(`/messages/${lastId}/pin`, undefined, as('ada')))
      assertSucceeds(await app.post(`/messages/${lastId}/save`, undefined, as('ada')))
      // Some conversations are partly read, some partly hidden.
      const cursors = [
        { other: 'p1', read_seq: 40, cleared_seq: 0 },
        { other: 'p2', read_seq: rounds, cleared_seq: 0 },
        { other: 'p3', read_seq: 60, cleared_seq: 50 },
        { other: 'p4', read_seq: rounds, cleared_seq: rounds },
      ]
      await h.service.house.database.write(async (connection) => {
        const rows = tenantDb(connection, app.id)
        for (const { other, ...set } of cursors) {
          await rows.update('conversation_rows').set(set).where('conversation_key', '=', keyWith(other)).execute()
        }
        // Whoever reads on from a message that is gone meanwhile goes on from its place.
        goneId = lastId - everything / 2
        await rows.update('messages').set({ purged: 1 }).where('id', '=', goneId).execute()
        await removeSearchEntries(rows, messagesList, [String(goneId)])
      })
      // What PostgreSQL does by itself a little later.
      if (database === 'postgres')
        await acrossApps(() => h.service.house.database.write(async ({ run }) => run('ANALYZE', [])))
    })
    after(() => h.close())

    const plansOf = (work: (db: TenantDb) => Promise<unknown>) => plannedFor(h, app, ({ db }) => work(db))

    const tables = [
      'messages',
      'search_entries',
      'receipt_marks',
      'message_tags',
      'message_mentions',
      'conversation_rows',
    ]

    function visit(node: PlanNode, name: string): number {
      const relation = node['Relation Name'] ?? ''
      assert.ok(node['Node Type'] !== 'Seq Scan' || !tables.includes(relation), `${name} reads all of ${relation}`)
      const own = ['messages', 'search_entries'].includes(relation)
        ? (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
        : 0
      return own + (node.Plans ?? []).reduce((sum, each) => sum + visit(each, name), 0)
    }

    /**
     * On SQLite plans tell no numbers. No table may be scanned, and where somebody looks or a conversation is named, the
     * way must not lead through all messages of the app, nor through all of a conversation to sort them. Only hits,
     * pins and pages are sorted.
     */
    function assertFindsItsWay(name: string, details: string[], text: string): void {
      const whole = new RegExp(`SCAN (${tables.join('|')})\\b`)
      const throughApp = /SEARCH messages USING (COVERING )?INDEX messages_by_id \(app_id=\?( AND id[<>]\?)*\)/
      // The next messages of the app are found by walking through it, as far as the page goes.
      const isWalk = /"hit" \("id"\) AS MATERIALIZED \(SELECT messages\.id FROM messages .* LIMIT \?\) SELECT/s.test(
        text,
      )
      const isNarrow = /messages\.conversation_key =/.test(text) || (/hit\.id/.test(text) && !isWalk)
      for (const detail of details) {
        assert.doesNotMatch(detail, whole, `${name}: ${text}`)
        if (isNarrow) assert.doesNotMatch(detail, throughApp, `${name}: ${text}`)
        if (!/WITH "hit"|pinned_at|OFFSET/.test(text))
          assert.doesNotMatch(detail, /TEMP B-TREE FOR ORDER BY/, `${name}: ${text}`)
      }
    }

    /** No table is read from end to end, and on PostgreSQL no more rows than this. */
    function assertReadsFew(name: string, { text, plan }: Planned, few: number): void {
      if (database === 'sqlite') {
        const details = (plan as { detail: string }[]).map(({ detail }) => detail)
        assertFindsItsWay(name, details, text)
        return
      }
      const [
        {
          'QUERY PLAN': [{ Plan }],
        },
      ] = plan as [{ 'QUERY PLAN': [{ Plan: PlanNode }] }]
      const read = visit(Plan, name)
      assert.ok(read <= few, `${name}: ${read} rows read for ${text}\n${JSON.stringify(plan)}`)
    }

    const scopes: [string, WayScope, Actor | undefined][] = [
      ['of the app', { kind: 'app' }, undefined],
      ['of a conversation', { kind: 'conversation', conversationKey: keyWith('p7'), clearedSeq: 0 }, actor],
      ['of a reset conversation', { kind: 'conversation', conversationKey: keyWith('p3'), clearedSeq: 50 }, actor],
      ['of a user', { kind: 'viewer', uid: 'ada' }, actor],
    ]

    it('looks at few messages for a rare word, whatever else is asked', async () => {
      for (const [where, scope, who] of scopes) {
        for (const [what, query] of Object.entries({ ...filters, ...(who ? ofViewer : {}) })) {
          const asked = { ...query, searchKey: 'walnut' }
          const plans = await plansOf((db) => readStretch(db, scope, asked, asking(who)))
          for (const plan of plans) assertReadsFew(`a rare word and ${what} ${where}`, plan, 60)
        }
      }
    })

    it('never reads a table from end to end, whatever is asked', async () => {
      for (const [where, scope, who] of scopes) {
        for (const [what, query] of Object.entries({ ...filters, ...(who ? ofViewer : {}) })) {
          for (const searchKey of ['', 'plank']) {
            const asked = { ...query, ...(searchKey && { searchKey }) }
            const plans = await plansOf((db) => readStretch(db, scope, asked, asking(who)))
            for (const plan of plans) assertReadsFew(`${searchKey} ${what} ${where}`, plan, Number.POSITIVE_INFINITY)
          }
        }
      }
      for (const [what, query] of Object.entries(filters)) {
        for (const searchKey of ['', 'plank', 'walnut']) {
          const asked = { ...query, ...(searchKey && { searchKey }) }
          const plans = await plansOf((db) => messagesOfUser(db, 'p3', asked, { limit: 10, offset: 0 }))
          for (const plan of plans) assertReadsFew(`${searchKey} ${what} in pages`, plan, rounds * 3)
        }
      }
    })

    it('looks at few messages for what few have, or for the first of many', async () => {
      const rare: Record<string, MessageListQuery> = {
        'a rare tag': { tags: ['rare'] },
        'a rare mention': { mentionedUids: ['p3'] },
        'a rare sender': { sender: 'nobody' },
        'the first': { limit: 10 },
        'the last': { affix: 'prepend', limit: 10 },
      }
      for (const [where, scope, who] of scopes) {
        for (const [what, query] of Object.entries(rare)) {
          const plans = await plansOf((db) => readStretch(db, scope, query, asking(who)))
          for (const plan of plans) assertReadsFew(`${what} ${where}`, plan, 500)
        }
      }
    })

    /** All that a list of a scope holds, read on from one piece to the next. */
    async function readAll(scope: WayScope, query: MessageListQuery, pieces: number, from?: number): Promise<number[]> {
      const db = tenantDb(h.service.house.database.reader, app.id)
      const found: number[] = []
      for (let id = from; pieces > 0; pieces -= 1) {
        const { rows } = await readStretch(db, scope, { ...query, ...(id !== undefined && { id }) }, asking(actor))
        const ids = rows.map((row) => row.id)
        if (query.affix === 'append') found.push(...ids)
        else found.unshift(...ids)
        if (ids.length < (query.limit ?? 0)) break
        id = query.affix === 'append' ? ids.at(-1) : ids[0]
      }
      return found
    }

    it('finds on these ways what there is, in order, from either end and in pieces of any size', async () => {
      const db = tenantDb(h.service.house.database.reader, app.id)
      const all = await db.select('messages').selectAll().orderBy('messages.id').execute()
      const rows = await db.select('conversation_rows').selectAll().where('uid', '=', 'ada').execute()
      const sides = new Map(rows.map((row) => [row.conversation_key, row]))
      type Row = (typeof all)[number]
      const isSeen = (row: Row) => row.purged === 0 && row.seq > (sides.get(row.conversation_key)?.cleared_seq ?? 0)
      const isUnread = (row: Row) =>
        row.sender !== 'ada' && row.counts === 1 && row.seq > (sides.get(row.conversation_key)?.read_seq ?? 0)
      const isRare = ({ data }: Row) => data.includes('walnut')
      const asked: [MessageListQuery, (row: Row) => boolean][] = [
        [{}, () => true],
        [{ unread: true }, isUnread],
        [{ tags: ['rare'] }, isRare],
        [{ searchKey: 'walnut' }, isRare],
        [{ searchKey: 'plank 7' }, ({ data }) => /plank.*7/.test(data)],
        [{ searchKey: 'plank', mentionedUids: ['p3'] }, isRare],
        [{ searchKey: 'plank', senders: ['ada', 'p1'] }, ({ sender }) => ['ada', 'p1'].includes(sender)],
        [{ senders: ['p2', 'p7'] }, ({ sender }) => ['p2', 'p7'].includes(sender)],
      ]
      const ofViewer = scopes.filter(([, , who]) => who)
      for (const [where, scope] of ofViewer) {
        const inScope = all
          .filter(isSeen)
          .filter((row) => scope.kind !== 'conversation' || row.conversation_key === scope.conversationKey)
        for (const [query, isAsked] of asked) {
          const wanted = inScope.filter(isAsked).map(({ id }) => id)
          for (const affix of ['append', 'prepend'] as const) {
            const end = (ids: number[], count: number) => (affix === 'append' ? ids.slice(0, count) : ids.slice(-count))
            for (const [limit, pieces] of [
              [1, 3],
              [3, 8],
              [40, 100],
              [1_000, 2],
            ] as const) {
              const name = JSON.stringify({ ...query, affix, limit, where })
              const found = await readAll(scope, { ...query, affix, limit }, pieces)
              assert.deepEqual(found, end(wanted, limit * pieces), name)
              const past = wanted.filter((id) => (affix === 'append' ? id > goneId : id < goneId))
              const beyond = await readAll(scope, { ...query, affix, limit }, pieces, goneId)
              assert.deepEqual(beyond, end(past, limit * pieces), `past what is gone: ${name}`)
            }
          }
        }
      }
    })
  })
}
