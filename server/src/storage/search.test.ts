import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { databases } from '../../../tests/support/databases.ts'
import { type AppClient, type House, house } from '../../../tests/support/house.ts'
import { acrossApps } from '../../../tests/support/tripwire.ts'
import { TakesLong } from './connection.ts'
import { wantedBy } from './grams.ts'
import { countMatching, idsMatching, idsOnPage, matches, putSearchEntries, removeSearchEntries } from './search.ts'
import { folded, withoutAccents } from './search-text.ts'
import { deleteSome } from './sql.ts'
import { type TenantDb, tenantDb } from './tenant.ts'

const list = 'things'
const bothFields = [0, 1]

it('folds letters to one form, one case and single spaces', () => {
  for (const [text, expected] of [
    ['Ångström', 'ångström'],
    ['A\u030angstro\u0308m', 'ångström'],
    ['ＮＯＲＡ', 'nora'],
    ['STRASSE', folded('straße')],
    ['ΟΔΟΣ', 'οδοσ'],
    ['a \n\t b', 'a b'],
    ['①', '1'],
  ] as const) {
    assert.equal(folded(text), expected)
  }
})

it('takes accents off letters, and leaves the vowel signs of other scripts', () => {
  for (const [text, expected] of [
    ['Müller café', 'Muller cafe'],
    ['ЙОД ё', 'ИОД е'],
    ['नमस्ते', 'नमस्ते'],
    ['ที่', 'ที่'],
    ['がぎ', 'がぎ'],
  ] as const) {
    assert.equal(withoutAccents(text), expected.normalize('NFKC'))
  }
})

it('asks the index for few words and few grams, and for a short word only where there is no other', () => {
  const wantedFor = (words: string[]) =>
    wantedBy({ list: 'a-list', words }).alternatives[0]?.map(({ grams, asBeginning }) => [grams.length, asBeginning])
  assert.deepEqual(wantedFor(['a', 'b', 'cd', 'e']), [[1, true]])
  assert.deepEqual(wantedFor(['a', 'bcd', 'ef']), [[1, false]])
  assert.deepEqual(wantedFor(['oak', 'oak', 'OAK']), [[1, false]])
  assert.deepEqual(wantedFor(['one', 'four', 'three', 'eleven', 'seven', 'a']), [
    [4, false],
    [3, false],
    [3, false],
    [2, false],
  ])
  assert.deepEqual(wantedFor(['z'.repeat(500)]), [[16, false]])
})

for (const database of databases) {
  describe(`search on ${database}`, () => {
    let h: House
    let app: AppClient
    let other: AppClient
    before(async () => {
      h = await house({ database })
      app = await h.app('one')
      other = await h.app('other')
    })
    after(() => h.close())

    const write = (at: AppClient, work: (db: TenantDb) => Promise<unknown>) =>
      h.service.house.database.write((connection) => work(tenantDb(connection, at.id)))

    async function idsOf(at: AppClient, key: string, fields = bothFields): Promise<string> {
      const { reader } = h.service.house.database
      const ids = idsMatching(tenantDb(reader, at.id), { list, words: [key], fields })
      const { rows } = await acrossApps(() => sql<{ id: string }>`SELECT id FROM ${ids} AS hit`.execute(reader.query))
      return rows
        .map(({ id }) => id)
        .toSorted()
        .join()
    }

    it('finds exactly the records that a look at every text finds, for keys of every length', async () => {
      const texts = Array.from({ length: 60 }, (_, at) => {
        const letters = 'abäß中 ’\\%'
        const text = Array.from({ length: 1 + (at % 9) }, (_, more) => letters[(at * 7 + more * more * 3) % 9]).join('')
        return { id: `t${at}`, at, texts: [text, `${at}`] }
      })
      await write(app, (db) => putSearchEntries(db, list, texts))
      const keys = [
        'a',
        'ä',
        '中',
        '\\',
        '%',
        '’',
        'ab',
        'ss',
        'ba',
        'abä',
        'b中a',
        'ä%a',
        'abab',
        'ß中ab',
        '1',
        '12',
        ' a',
      ]
      let found = 0
      for (const key of keys) {
        for (const fields of [[0], [1], bothFields]) {
          const expected = texts
            .filter(({ texts: each }) => fields.some((field) => folded(each[field] ?? '').includes(folded(key))))
            .map(({ id }) => id)
            .toSorted()
          found += expected.length
          assert.equal(await idsOf(app, key, fields), expected.join(), `${key} in ${fields}`)
        }
      }
      assert.ok(found > 100)
    })

    it('finds the same for several words of any length, asking the index for the longest alone', async () => {
      const letters = 'abc'
      const words = (at: number) => [0, 1, 2, 3, 4].map((n) => letters[(at * (n + 2) + n * at * at) % 3]).join('')
      const texts = Array.from({ length: 80 }, (_, at) => ({
        id: `w${at}`,
        at,
        texts: [`${words(at)} ${words(at + 7)} ${'x'.repeat(at % 24)}`, words(at * 3)],
      }))
      await write(app, (db) => putSearchEntries(db, 'words', texts))
      const { reader } = h.service.house.database
      const db = tenantDb(reader, app.id)
      let found = 0
      for (const key of [
        'a',
        'a b',
        'ab c',
        'abc a',
        'ab ca abc bca',
        'abc bca cab aab',
        'a b c ab bc ca abc',
        'x'.repeat(20),
        `${'x'.repeat(19)} a`,
      ]) {
        for (const fields of [[0], [1], bothFields]) {
          const search = { list: 'words', words: key.split(' '), fields }
          const expected = texts
            .filter(({ texts: each }) =>
              fields.some((field) => search.words.every((word) => each[field]?.includes(word))),
            )
            .map(({ id }) => id)
            .toReversed()
          found += expected.length
          assert.deepEqual(
            await acrossApps(() => idsOnPage(db, search, { limit: 100 })),
            expected,
            `${key} in ${fields}`,
          )
          assert.equal(await acrossApps(() => countMatching(db, search)), expected.length)
        }
      }
      assert.ok(found > 100)
    })

    it('is no read for the connection that everybody shares', async () => {
      const { reader } = h.service.house.database
      const shared = tenantDb({ ...reader, isShared: true }, app.id)
      const search = { list, words: ['oak'], fields: bothFields }
      assert.throws(() => idsMatching(shared, search), TakesLong)
      assert.throws(() => matches(shared, search, sql`1`), TakesLong)
      await assert.rejects(countMatching(shared, search), TakesLong)
      await assert.rejects(idsOnPage(shared, search, { limit: 1 }), TakesLong)
    })

    it('answers the same when it asks one record after the other', async () => {
      const { reader } = h.service.house.database
      const db = tenantDb(reader, app.id)
      for (const key of ['a', 'ab', 'b中a']) {
        const { rows } = await acrossApps(() =>
          sql<{
            id: string
          }>`SELECT all_entries.id FROM search_entries AS all_entries WHERE all_entries.app_id = ${app.id}
            AND all_entries.list = ${list} AND ${matches(db, { list, words: [key], fields: bothFields }, sql`all_entries.id`)}`.execute(
            reader.query,
          ),
        )
        assert.equal(
          rows
            .map(({ id }) => id)
            .toSorted()
            .join(),
          await idsOf(app, key),
        )
      }
    })

    it('follows changes, removal and the purge of an app, and keeps apps apart', async () => {
      const put = (at: AppClient, id: string, text: string) =>
        write(at, (db) => putSearchEntries(db, list, [{ id, at: 1, texts: [text, id] }]))
      await put(app, 'x1', 'walnut table')
      await put(other, 'x2', 'walnut chair')
      assert.equal(await idsOf(app, 'walnut'), 'x1')
      assert.equal(await idsOf(other, 'walnut'), 'x2')
      await put(app, 'x1', 'oak table')
      assert.equal(await idsOf(app, 'walnut'), '')
      assert.equal(await idsOf(app, 'oak t'), 'x1')
      await write(app, (db) => removeSearchEntries(db, list, ['x1']))
      assert.equal(await idsOf(app, 'oak'), '')
      await write(other, (db) => deleteSome(db, 'search_entries', 100))
      assert.equal(await idsOf(other, 'walnut'), '')
    })

    it('wants all words, and is narrowed by marks', async () => {
      await write(app, (db) =>
        putSearchEntries(db, 'marked', [
          { id: '1', at: 1, texts: ['red oak table'], marks: ['a', 'x'] },
          { id: '2', at: 2, texts: ['oak and red beech'], marks: ['b', 'x'] },
          { id: '3', at: 3, texts: ['red chair'], marks: ['a'] },
        ]),
      )
      const { reader } = h.service.house.database
      const db = tenantDb(reader, app.id)
      const found = (words: string[], marks: string[], page = {}) =>
        acrossApps(() => idsOnPage(db, { list: 'marked', words, fields: [0], marks }, { limit: 10, ...page }))
      assert.deepEqual(await found(['red'], []), ['3', '2', '1'])
      assert.deepEqual(await found(['red', 'oak'], []), ['2', '1'])
      assert.deepEqual(await found(['red', 'oak'], ['b']), ['2'])
      assert.deepEqual(await found(['re'], ['a', 'x']), ['1'])
      assert.deepEqual(await found(['red'], [], { below: 3, limit: 1 }), ['2'])
      assert.deepEqual(await found(['red'], [], { above: 1, upwards: true, limit: 1 }), ['2'])
      const count = (marks: string[]) =>
        countMatching(db, { list: 'marked', words: ['red', 'oak'], fields: [0], marks })
      assert.deepEqual([await acrossApps(() => count(['x'])), await acrossApps(() => count(['a']))], [2, 1])
    })

    it('keeps entries in the order of their places when all are written again, whatever was changed', async () => {
      const entry = (at: number, text: string) => ({ id: `${at}`, at, texts: [text] })
      await write(app, (db) =>
        putSearchEntries(
          db,
          'ordered',
          [1, 2, 3, 4, 5].map((at) => entry(at, 'oak')),
        ),
      )
      await write(app, (db) => putSearchEntries(db, 'ordered', [entry(2, 'ash'), entry(4, 'elm')]))
      const places: number[] = []
      await acrossApps(() =>
        h.service.house.database.snapshot((connection) =>
          h.service.house.database.scan(connection, 'search_entries', async (rows) => {
            places.push(...rows.filter((row) => row.list === 'ordered').map(({ at }) => Number(at)))
          }),
        ),
      )
      assert.deepEqual(places, [1, 2, 3, 4, 5])
    })

    it('always begins with the index of grams and never reads all entries', async () => {
      await write(app, async (db) => {
        for (let at = 0; at < 1_500; at += 500) {
          const entries = Array.from({ length: 500 }, (_, more) => ({
            id: `p${at + more}`,
            at,
            texts: [`plank ${at + more}`, 'x'],
          }))
          await putSearchEntries(db, list, entries)
        }
      })
      const { reader } = h.service.house.database
      for (const key of ['p', 'pl', 'pla', 'plank 14']) {
        const ids = idsMatching(tenantDb(reader, app.id), { list, words: [key], fields: bothFields })
        const explain = database === 'sqlite' ? sql`EXPLAIN QUERY PLAN` : sql`EXPLAIN`
        const { rows } = await acrossApps(() => sql`${explain} SELECT * FROM ${ids} AS hit`.execute(reader.query))
        const plan = JSON.stringify(rows)
        if (database === 'sqlite') {
          assert.match(plan, /SCAN search_grams VIRTUAL TABLE INDEX/, plan)
          assert.match(plan, /SEARCH search_entries USING INTEGER PRIMARY KEY/, plan)
        } else {
          assert.match(plan, /Bitmap Index Scan on search_entries_by_gram/, plan)
          assert.doesNotMatch(plan, /Seq Scan/, plan)
        }
      }
    })
  })
}
