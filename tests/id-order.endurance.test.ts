import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { readStretch } from '../server/src/areas/messages/list.ts'
import { placeOfUsers, writeMessage } from '../server/src/areas/timeline/index.ts'
import { workIn } from '../server/src/common/work-in.ts'
import { connectionOver } from '../server/src/storage/connection.ts'
import { tenantDb } from '../server/src/storage/tenant.ts'
import { databases } from './support/databases.ts'
import { type AppClient, assertSucceeds, type Caller, callerAt, type House, house } from './support/house.ts'
import { appWith, as, idsIn, say } from './support/talk.ts'

/**
 * Where several transactions write at once, ids are given out before they are committed: a smaller one can come after a
 * larger one was read. Whoever reads on across conversations must miss none.
 */

for (const database of databases) {
  describe(`reading on across conversations on ${database}`, () => {
    let h: House
    let app: AppClient
    const writers = ['lin', 'max', 'zoe', 'eva']
    before(async () => {
      h = await house({ database })
      app = await appWith(h, 'ada', ...writers)
    })
    after(() => h.close())

    /** The list of the whole app, and that of all conversations of one user. */
    const readers = (): [string, Caller][] => [
      ['the app', app],
      ['a user', callerAt(h.client, app.host, '/v3', { apikey: app.apiKey, ...as('ada') })],
    ]

    /** Writes a message in a transaction that waits before its commit. */
    const sayAndWait = (from: string, waits: () => Promise<void>): Promise<string> => {
      const { database: store, tools } = h.service.house
      return store.write(async (connection) => {
        const work = workIn(connection, app.id, tools)
        const row = await writeMessage(work, placeOfUsers(from, 'ada'), {
          sender: from,
          receiver: 'ada',
          category: 'message',
          type: 'text',
          data: { text: 'slow', entities: {} },
        })
        await waits()
        return String(row.id)
      })
    }

    it('shows nothing beyond a message that is still being written, in either direction, and then both', {
      skip: database === 'sqlite' && 'there is one writer at a time, so nothing can overtake',
    }, async () => {
      const { id: start } = await say(app, 'lin', 'ada')
      let overtaking = ''
      const slow = await sayAndWait('lin', async () => {
        overtaking = (await say(app, 'max', 'ada')).id
        for (const [who, caller] of readers()) {
          const on = assertSucceeds(await caller.get(`/messages?id=${start}`))
          assert.deepEqual([idsIn(on.data), on.meta.next], [[], { affix: 'append', id: start }], who)
          const newest = assertSucceeds(await caller.get('/messages?affix=prepend&limit=1'))
          assert.deepEqual(idsIn(newest.data), [start], who)
        }
        // Within its conversation a message is there at once: nothing smaller can come there.
        const inside = assertSucceeds(await app.get('/users/max/messages?affix=prepend&limit=1', as('ada')))
        assert.deepEqual(idsIn(inside.data), [overtaking])
      })
      assert.ok(Number(slow) < Number(overtaking))
      for (const [who, caller] of readers()) {
        assert.deepEqual(idsIn(assertSucceeds(await caller.get(`/messages?id=${start}`)).data), [slow, overtaking], who)
      }
    })

    it('leaves to the next list what was written while this one was put together', async () => {
      const { id: start } = await say(app, 'lin', 'ada')
      const { id: first } = await say(app, 'max', 'ada')
      const { reader } = h.service.house.database
      const meanwhile: string[] = []
      // Where it is known which conversations have something new, one of those that have nothing gets something.
      const interrupted = connectionOver(reader.flavour, async (text, parameters) => {
        const outcome = await reader.run(text, parameters)
        if (meanwhile.length > 0 || !text.includes('begun')) return outcome
        for (const from of ['lin', 'max']) meanwhile.push((await say(app, from, 'ada')).id)
        return outcome
      })
      const idsAfter = async (id: string) => {
        const asking = { actor: undefined, caller: { kind: 'system', part: 'test' } as const, now: 0 }
        const scope = { kind: 'viewer', uid: 'ada' } as const
        const { rows } = await readStretch(tenantDb(interrupted, app.id), scope, { id: Number(id) }, asking)
        return rows.map((row) => String(row.id))
      }
      assert.deepEqual(await idsAfter(start), [first])
      assert.equal(meanwhile.length, 2)
      assert.deepEqual(await idsAfter(first), meanwhile)
    })

    it('is not held back by what was never written', async () => {
      await assert.rejects(
        sayAndWait('lin', async () => {
          throw new Error('never mind')
        }),
        /never mind/,
      )
      const { id } = await say(app, 'max', 'ada')
      for (const [who, caller] of readers()) {
        assert.deepEqual(idsIn(assertSucceeds(await caller.get('/messages?affix=prepend&limit=1')).data), [id], who)
      }
    })

    it('finds every message once, in order, while many write, edit and delete', async () => {
      const { id: start } = await say(app, 'lin', 'ada')
      const sent = new Set<string>()
      let writing = true
      const seen = new Map<string, string[]>(readers().map(([who]) => [who, []]))
      const read = async ([who, caller]: [string, Caller]) => {
        const ids = seen.get(who) ?? []
        for (let more = true; more || writing; ) {
          const cursor = ids.at(-1) ?? start
          // Actions, which tell of edits and deletions, are messages of the conversation too.
          const { data } = assertSucceeds(await caller.get(`/messages?id=${cursor}&limit=7`))
          ids.push(...idsIn(data))
          more = data.length > 0
        }
      }
      const reading = readers().map(read)
      await Promise.all(
        writers.map(async (from, n) => {
          for (let turn = 0; turn < 12; turn += 1) {
            const { id } = await say(app, from, 'ada', `m${turn}`)
            sent.add(id)
            if (turn % 4 === n)
              sent.add((await app.put(`/messages/${id}`, { data: { text: 'e' } }, as(from))).body.data.id)
            if (turn % 4 === (n + 1) % 4)
              sent.add((await app.delete(`/messages/${id}`, undefined, as(from))).body.data.id)
            if (turn % 4 === (n + 2) % 4) sent.add(await sayAndWait(from, async () => {}))
          }
        }),
      )
      writing = false
      await Promise.all(reading)
      const all = [...sent].map(Number).toSorted((a, b) => a - b)
      for (const [who, ids] of seen) assert.deepEqual(ids.map(Number), all, who)
    })
  })
}
