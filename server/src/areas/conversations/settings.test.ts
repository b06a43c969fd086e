import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, say } from '../../../../tests/support/talk.ts'
import { connectionOver } from '../../storage/connection.ts'
import { tenantDb } from '../../storage/tenant.ts'
import { auditTimeline } from '../timeline/audit.ts'

/** What the settings of an app change in conversations; which setting is for what stands in the rules of the timeline. */

interface Case {
  setting: string
  usually: boolean
  /** Something that the setting is about, done by ada after a text of hers that lin has read. */
  act: (app: AppClient, textId: string) => Promise<unknown>
  /** What lin has unread if notice is taken of it. */
  counts: number
  /** How it shows in the last message then. */
  shows: (last: { category: string; type: string; parentId?: string; data: { action?: string } }) => boolean
}

const reply = async (app: AppClient, id: string) =>
  assertSucceeds(await app.post(`/messages/${id}/thread`, { data: { text: 'And more' } }, as('ada'))).data

const cases: Case[] = [
  {
    setting: 'core.conversations.updateOnReplies',
    usually: true,
    act: reply,
    counts: 0,
    shows: ({ parentId }) => parentId !== undefined,
  },
  {
    setting: 'core.conversations.updateOnCustomMessage',
    usually: true,
    act: (app) => say(app, 'ada', 'lin', '', { category: 'custom', type: 'place', data: { customData: { at: 1 } } }),
    counts: 1,
    shows: ({ category }) => category === 'custom',
  },
  {
    setting: 'core.conversations.updateOnMessageActions',
    usually: false,
    act: async (app, id) => assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'Better' } }, as('ada'))),
    counts: 1,
    shows: ({ category, data }) => category === 'action' && data.action === 'edited',
  },
  {
    setting: 'core.threads.updateOnMessageActions',
    usually: false,
    async act(app, id) {
      const { id: replyId } = await reply(app, id)
      assertSucceeds(await app.delete(`/messages/${replyId}`, undefined, as('ada')))
    },
    counts: 1,
    shows: ({ category, data }) => category === 'action' && data.action === 'deleted',
  },
]

for (const database of databases) {
  describe(`settings of conversations on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const set = async ({ id }: AppClient, settings: Record<string, boolean>) =>
      assertSucceeds(await h.management.post(`/apps/${id}/settings`, { settings }))
    const ofLin = async (app: AppClient, path = '/users/ada/conversation') =>
      assertSucceeds(await app.get(path, as('lin'))).data
    const sound = async (app: AppClient) =>
      assert.deepEqual(await auditTimeline(tenantDb(h.service.house.database.reader, app.id)), [])

    for (const { setting, usually, act, counts, shows } of cases) {
      const noticed = async (app: AppClient) => {
        const { id } = await say(app, 'ada', 'lin')
        assertSucceeds(await app.post('/users/ada/conversation/read', {}, as('lin')))
        await act(app, id)
        const { unreadMessageCount, lastMessage } = await ofLin(app)
        return { unread: Number(unreadMessageCount), shown: lastMessage !== undefined && shows(lastMessage) }
      }
      const taken = { unread: counts, shown: true }
      const none = { unread: 0, shown: false }

      it(`${setting}: ${usually} unless set, and either way from then on`, async () => {
        const app = await appWith(h, 'ada', 'lin')
        assert.deepEqual(await noticed(app), usually ? taken : none)
        await set(app, { [setting]: !usually })
        assert.deepEqual(await noticed(app), usually ? none : taken)
        const before = await ofLin(app)
        assertSucceeds(await h.management.delete(`/apps/${app.id}/settings`))
        assert.deepEqual(await ofLin(app), before, 'what was written stays as it is')
        assert.deepEqual(await noticed(app), usually ? taken : none)
        await sound(app)
      })
    }

    it('core.conversations.updateOnGroupActions: true unless set, and either way from then on', async () => {
      const app = await appWith(h, 'ada', 'lin', 'max', 'eve')
      const members = { participants: ['lin'] }
      assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew', members }, as('ada')))
      const noticed = async (uid: string) => {
        assertSucceeds(await app.post('/groups/crew/conversation/read', {}, as('lin')))
        assertSucceeds(await app.post('/groups/crew/members', { participants: [uid] }, as('ada')))
        const { unreadMessageCount, lastMessage } = await ofLin(app, '/groups/crew/conversation')
        return [unreadMessageCount, lastMessage?.data.entities.on.entity.uid]
      }
      assert.deepEqual(await noticed('max'), ['1', 'max'])
      await set(app, { 'core.conversations.updateOnGroupActions': false })
      assert.deepEqual(await noticed('eve'), ['0', 'max'])
      await sound(app)
    })

    it('cost nothing when a message is sent: they came with the app', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const statements: string[] = []
      const { database: storage } = h.service.house
      const { write } = storage
      storage.write = (work) =>
        write((connection) =>
          work(
            connectionOver(connection.flavour, (sql, parameters) => {
              statements.push(sql)
              return connection.run(sql, parameters)
            }),
          ),
        )
      try {
        await say(app, 'ada', 'lin')
      } finally {
        storage.write = write
      }
      assert.ok(statements.some((sql) => /into "messages"/.test(sql)))
      assert.deepEqual(
        statements.filter((sql) => /\bapps\b/.test(sql)),
        [],
      )
    })
  })
}
