import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { statementsOf } from '../../../../tests/support/plans.ts'
import { appWith, as, asking, say } from '../../../../tests/support/talk.ts'
import { readStretch } from './list.ts'
import { messagesOfUser } from './list-of-user.ts'

/** Texts, and keys that find each of them and no other. */
const texts: [string, string[]][] = [
  ['Crème brûlée à Zürich, naïve façade', ['creme', 'BRULEE', 'rûl', 'zurich', 'ÜRI', 'facade cre', 'ème']],
  ['Tiếng Việt rất hay', ['tieng viet', 'VIỆT', 'iếng', 'rat']],
  ['Straße nach Köln', ['STRASSE', 'straße', 'koln', 'Kö', 'aße']],
  ['İstanbul ve ışık', ['istanbul', 'ISTANBUL', 'işik', 'ıŞı']],
  ['Привет, ёжик!', ['ПРИВ', 'ивет', 'ежик', 'ЁЖ', 'вет ик']],
  ['Καλημέρα κόσμος', ['καλημερα', 'ΚΌΣΜΟΣ', 'σμος', 'ΗΜΈ']],
  ['مَرْحَبًا بِالعالم أحمد', ['مرحبا', 'عالم', 'احمد', 'مَرْحَبًا', 'حب']],
  ['שָׁלוֹם עולם', ['שלום', 'ולם', 'עו לום', 'שָׁל']],
  ['नमस्ते दुनिया', ['नमस्', 'निया', 'दुनि', 'या']],
  ['สวัสดีชาวโลก', ['ชาว', 'สดี', 'โลก', 'วัสดีช']],
  ['你好，世界和平', ['世', '世界', '界和平', '你']],
  ['こんにちは カタカナ 東京タワー', ['にち', 'ﾀﾜｰ', 'カナ', '東京', 'タワ こん', '京タ']],
  ['안녕하세요 여러분', ['녕하', '러분', '안']],
  ['🚣 boat 👍🏽', ['🚣', '👍', 'oat 🚣']],
  ['100% _under\\score \'quoted\' "x" <b>', ['100%', '_un', '\\sc', "'quo", '<b>', '% _']],
  ['ﬁne ＦＵＬＬ ① ½', ['fine', 'full', '1⁄2', 'ＦＵ']],
]

for (const database of databases) {
  describe(`searching messages on ${database}`, () => {
    let h: House
    let app: AppClient
    const ids = new Map<string, string>()
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'ada', 'eve', 'lin', 'max')
      for (const [text] of texts) ids.set((await say(app, 'lin', 'ada', text)).id, text)
    })
    after(() => h.close())

    const found = async (path: string, key: string, uid?: string) => {
      const asked = `limit=100&perPage=100&searchKey=${encodeURIComponent(key)}`
      const { data } = assertSucceeds(await app.get(`${path}?${asked}`, uid === undefined ? undefined : as(uid)))
      return data.map(({ id }: { id: string }) => ids.get(id))
    }

    it('finds parts of words in every script, blind for letter case and accents', async () => {
      const missed: unknown[] = []
      for (const [text, keys] of texts) {
        for (const key of keys) {
          const all = await found('/messages', key, 'ada')
          if (all.length !== 1 || all[0] !== text) missed.push([key, text, all])
        }
        const [key = ''] = keys
        assert.deepEqual(await found('/users/lin/messages', key, 'ada'), [text], key)
        assert.deepEqual(await found('/users/lin/messages', key), [text], key)
        assert.deepEqual(await found('/messages', key), [text], key)
        assert.deepEqual(await found('/messages', key, 'max'), [], key)
      }
      assert.deepEqual(missed, [])
    })

    it('wants every word, wherever it stands, and finds all for no word at all', async () => {
      assert.deepEqual(await found('/messages', 'zurich привет', 'ada'), [])
      assert.deepEqual(await found('/messages', `  ZÜRICH\t creme  creme ${'naive '.repeat(79)}`, 'ada'), [
        texts[0]?.[0],
      ])
      assert.equal((await found('/messages', '   ', 'ada')).length, texts.length)
      assert.deepEqual(await found('/messages', 'z'.repeat(500), 'ada'), [])
    })

    it('wants short words as well as long ones, and many as well as few', async () => {
      for (const [key, expected] of [
        ['a à br', 'Crème brûlée à Zürich, naïve façade'],
        ['ch na', 'Crème brûlée à Zürich, naïve façade'],
        ['ch na kö', 'Straße nach Köln'],
        ['nach x', undefined],
        ['straße nach köln a n', 'Straße nach Köln'],
        ['straße nach köln a n y', undefined],
        ['creme brulee zurich naive facade rul eme', 'Crème brûlée à Zürich, naïve façade'],
        ['creme brulee zurich naive facade rul emx', undefined],
        ['crème brûlée à zürich, naïve façade', 'Crème brûlée à Zürich, naïve façade'],
      ] as const) {
        const expectedAll = expected === undefined ? [] : [expected]
        for (const uid of ['ada', undefined]) {
          const all = (await found('/messages', key, uid)).filter((text: string) => !expected || text === expected)
          assert.deepEqual(all, expectedAll, key)
        }
      }
    })

    it('is refused with too many different words, or when it is too long, and changes nothing', async () => {
      const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n}`).join(' ')
      const refused = async (key: string, why: RegExp) => {
        for (const path of ['/messages', '/users/lin/messages']) {
          const answer = await app.get(`${path}?searchKey=${encodeURIComponent(key)}`, as('max'))
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.match(answer.body.error.details.searchKey[0], why)
        }
      }
      assert.deepEqual(await found('/messages', words(16), 'ada'), [])
      await refused(words(17), /more than 16 different words/)
      await refused('z'.repeat(501), /longer than 500 characters/)
      // Folded first, then counted: each of these letters is a sentence of four words, but always the same.
      assert.deepEqual(await found('/messages', 'ﷺ '.repeat(20), 'ada'), [])
      assert.deepEqual(await found('/messages', `${words(16)} W1 w1 Ｗ2`, 'ada'), [])
      const shortWords = 'a i o u e n t r s l d m in on at it is he re te an er or ti es st en of to nd '.repeat(14)
      await refused(shortWords.slice(0, 499), /more than 16 different words/)
      await refused(shortWords.slice(0, 987), /longer than 500 characters/)
    })

    it('costs somebody who sees nothing no search, and somebody who sees little a look at just that', async () => {
      const search = { searchKey: 'a i o u e' }
      const statementsFor = (uid: string) =>
        statementsOf(h, app, ({ db }) =>
          readStretch(db, { kind: 'viewer', uid }, search, asking({ uid, role: 'default', roleId: null })),
        )
      const inPages = (uid: string) =>
        statementsOf(h, app, ({ db }) => messagesOfUser(db, uid, search, { limit: 100, offset: 0 }))
      for (const asked of [await statementsFor('max'), await statementsFor('ada'), await inPages('ada')]) {
        assert.deepEqual(
          asked.filter((text) => /search_grams/.test(text)),
          [],
        )
        assert.ok(asked.some((text) => /sum\(conversations\.last_seq/.test(text)))
      }
    })

    it('finds the same of a user, whether others use the word seldom or all the time', async () => {
      const text = 'A rutabaga'
      ids.set((await say(app, 'lin', 'ada', text)).id, text)
      assert.deepEqual(await found('/users/lin/messages', 'rutabaga'), [text])
      for (let n = 0; n < texts.length + 2; n += 1) await say(app, 'max', 'eve', 'Rutabaga, again')
      assert.deepEqual(await found('/users/lin/messages', 'rutabaga'), [text])
      assert.deepEqual(await found('/users/lin/messages', 'rutabaga zurich'), [])
      assert.equal((await found('/users/eve/messages', 'rutabaga')).length, texts.length + 2)
    })
  })
}
