import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { cursorPage, cursorPageOf, cursorQuery } from '../server/src/common/cursor.ts'
import { area } from '../server/src/kit/area.ts'
import { operation } from '../server/src/kit/operation.ts'
import { Type } from '../server/src/kit/schema.ts'
import { databases } from './support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from './support/house.ts'

/** Cursor paging of the kit, through an area that exists only here. */

declare module '../server/src/storage/tables.ts' {
  interface Tables {
    slips: { app_id: string; id: number; text: string }
  }
}

const limits = { usual: 10, max: 50 }
const Note = Type.Object({ id: Type.Integer(), text: Type.String() })

const listNotes = operation({
  id: 'listNotes',
  route: 'GET /slips',
  summary: 'List slips',
  query: cursorQuery({}, limits),
  reply: cursorPageOf(Note),
  run: ({ db, query }) =>
    cursorPage(
      db.select('slips').select(['slips.id', 'slips.text']) as never,
      'slips.id',
      query,
      limits,
      ({ id }: { id: number }) => id,
      (row) => row as { id: number; text: string },
    ),
})

const slips = area({
  name: 'slips',
  about: 'Notes for a test.',
  operations: [listNotes],
  tables: ['slips'],
  migrations: {
    '20991231-slips': async ({ schema }) => {
      await schema
        .createTable('slips')
        .addColumn('app_id', 'text', (column) => column.notNull())
        .addColumn('id', 'bigint', (column) => column.notNull())
        .addColumn('text', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('notes_key', ['app_id', 'id'])
        .execute()
    },
  },
})

for (const database of databases) {
  describe(`cursor paging on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database, areas: [slips] })
      app = await h.app('a')
    })
    after(() => h.close())

    const change = (sql: string) =>
      h.service.house.database.write(async ({ run }) => void (await run(sql.replaceAll('$app', `'${app.id}'`), [])))
    const add = (ids: number[]) =>
      change(`INSERT INTO slips (app_id, id, text) VALUES ${ids.map((id) => `($app, ${id}, 'n${id}')`).join(', ')}`)
    const empty = () => change('DELETE FROM slips WHERE slips.app_id = $app')
    const read = async (query: string) => {
      const { data, meta } = assertSucceeds(await app.get(`/slips${query}`))
      return { ids: data.map(({ id }: { id: number }) => id), meta }
    }

    it('says on every page how to read on in both directions', async () => {
      await empty()
      await add([1, 2, 3, 4, 5])
      assert.deepEqual(await read('?limit=2'), {
        ids: [1, 2],
        meta: {
          current: { limit: 2, count: 2 },
          next: { affix: 'append', id: 2 },
          previous: { affix: 'prepend', id: 1 },
        },
      })
      assert.deepEqual((await read('?limit=2&id=2&affix=append')).meta, {
        current: { limit: 2, count: 2 },
        next: { affix: 'append', id: 4 },
        previous: { affix: 'prepend', id: 3 },
      })
      assert.deepEqual(await read('?limit=2&id=4'), {
        ids: [5],
        meta: {
          current: { limit: 2, count: 1 },
          next: { affix: 'append', id: 5 },
          previous: { affix: 'prepend', id: 5 },
        },
      })
      assert.deepEqual((await read('?limit=2&id=4&affix=prepend')).ids, [2, 3])
      assert.deepEqual((await read('?affix=prepend&limit=2')).ids, [4, 5])
    })

    it('answers a page without records with the cursor that was sent, or with none', async () => {
      await empty()
      const current = { limit: 10, count: 0 }
      assert.deepEqual(await read(''), {
        ids: [],
        meta: { current, next: { affix: 'append' }, previous: { affix: 'prepend' } },
      })
      assert.deepEqual(await read('?id=7'), {
        ids: [],
        meta: { current, next: { affix: 'append', id: 7 }, previous: { affix: 'prepend', id: 7 } },
      })
    })

    it('takes `perPage` and `per_page` for `limit`, which wins', async () => {
      for (const query of ['?perPage=3', '?per_page=3', '?perPage=3&per_page=4', '?limit=3&perPage=4&per_page=5']) {
        assert.equal((await read(query)).meta.current.limit, 3, query)
      }
      assertFails(await app.get('/slips?per_page=0'), 400, 'ERR_BAD_REQUEST')
    })

    it('caps the limit and refuses values that are none', async () => {
      assert.equal((await read('?limit=500')).meta.current.limit, 50)
      for (const query of ['?limit=0', '?limit=x', '?id=-1', '?id=1.5']) {
        assertFails(await app.get(`/slips${query}`), 400, 'ERR_BAD_REQUEST')
      }
    })

    it('neither skips nor repeats while records come and go', async () => {
      await empty()
      await add(Array.from({ length: 60 }, (_, n) => n * 10 + 10))
      const seen: number[] = []
      let query = '?limit=7'
      for (let turn = 0; ; turn += 1) {
        const { ids, meta } = await read(query)
        seen.push(...ids)
        await add([10_000 + turn])
        await change(`DELETE FROM slips WHERE slips.app_id = $app AND slips.id = ${ids[0]}`)
        if (ids.length < 7 || turn > 40) break
        query = `?limit=7&affix=${meta.next.affix}&id=${meta.next.id}`
      }
      const original = seen.filter((id) => id < 10_000)
      assert.deepEqual(
        original,
        Array.from({ length: 60 }, (_, n) => n * 10 + 10),
      )
      assert.equal(new Set(seen).size, seen.length)
    })
  })
}
