import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, say } from '../../../../tests/support/talk.ts'

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
      app = await appWith(h, 'ada', 'lin', 'max')
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
      assert.deepEqual(await found('/messages', `  ZÜRICH\t creme  creme ${'naive '.repeat(200)}`, 'ada'), [
        texts[0]?.[0],
      ])
      assert.equal((await found('/messages', '   ', 'ada')).length, texts.length)
      assert.deepEqual(await found('/messages', 'z'.repeat(5_000), 'ada'), [])
    })
  })
}
