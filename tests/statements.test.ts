import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from './support/databases.ts'
import { type AppClient, assertSucceeds, type Caller, type House, house } from './support/house.ts'
import { appWith, as, clientOf, say, sayIn } from './support/talk.ts'
import { statementsDuring } from './support/tripwire.ts'

/**
 * How many statements the operations take that people wait for most. Each is a round trip to PostgreSQL, and a place in the
 * line for its connections. A number here goes down, or up with a reason.
 */

/** Who asks: a user with their token, a server for them, or a server by itself. */
const askers = ['client', 'acting', 'server'] as const

type Most = Record<(typeof askers)[number], number>

const lists: [path: string, most: Most][] = [
  ['/conversations', { client: 8, acting: 8, server: 19 }],
  ['/messages', { client: 9, acting: 9, server: 3 }],
  ['/messages?unread=true&count=true', { client: 5, acting: 5, server: 3 }],
  ['/users/bob/messages', { client: 8, acting: 8, server: 7 }],
  ['/groups/g3/messages', { client: 5, acting: 5, server: 3 }],
  ['/messages/{parent}/thread', { client: 4, acting: 4, server: 2 }],
  ['/threads', { client: 9, acting: 9, server: 5 }],
  ['/users', { client: 5, acting: 5, server: 2 }],
  ['/groups', { client: 5, acting: 5, server: 3 }],
  ['/groups/g3/members', { client: 7, acting: 7, server: 4 }],
]

const sends: [receiverType: 'user' | 'group', receiver: string, most: Most][] = [
  ['user', 'bob', { client: 9, acting: 9, server: 7 }],
  ['group', 'g3', { client: 9, acting: 9, server: 6 }],
]

const partners = Array.from({ length: 8 }, (_, n) => `u${n}`)
const guids = Array.from({ length: 25 }, (_, n) => `g${n}`)

for (const database of databases) {
  describe(`the number of statements on ${database}`, () => {
    let h: House
    let app: AppClient
    let client: Caller
    let parent: string
    before(async () => {
      h = await house({ database, way: 'dispatch' })
      app = await appWith(h, 'ann', 'bob', ...partners)
      client = await clientOf(h, app, 'ann')
      for (const uid of partners) await talkWith(uid)
      parent = await talkWith('bob')
      for (const guid of guids) await talkIn(guid)
      await h.settle()
    })
    after(() => h.close())

    /** With quotes, mentions, replies and reactions, so that all there is to tell of a message has to be looked up. */
    async function talkWith(uid: string): Promise<string> {
      await say(app, 'ann', uid)
      const { id } = await say(app, uid, 'ann', 'Hi <@uid:ann>')
      assertSucceeds(await app.post(`/messages/${id}/reactions/x`, {}, as(uid)))
      await say(app, uid, 'ann', 'Well?', { quotedMessageId: id })
      await say(app, uid, 'ann', 'By the way', { parentId: id })
      return id
    }

    async function talkIn(guid: string): Promise<void> {
      const members = { participants: ['bob'] }
      assertSucceeds(await app.post('/groups', { guid, name: guid, type: 'public', owner: 'ann', members }))
      await sayIn(app, guid, 'ann')
      assertSucceeds(await app.post(`/groups/${guid}/conversation/read`, {}, as('bob')))
      await sayIn(app, guid, 'bob')
    }

    const call = (asker: keyof Most): Caller =>
      asker === 'client'
        ? client
        : {
            ...app,
            get: (path) => app.get(path, asker === 'acting' ? as('ann') : {}),
            post: (path, body) => app.post(path, body, asker === 'acting' ? as('ann') : {}),
          }

    // Who may enter is remembered for a moment, and what is under way is looked for until nothing is.
    const depends = /from "(auth_tokens|api_keys|apps)"|FROM (pg_locks|sqlite_sequence)/

    /** What happens for the first time only, such as reading up to where one writes, has happened by then. */
    async function statementsOf(asker: keyof Most, ask: (caller: Caller) => Promise<unknown>): Promise<string[]> {
      const caller = call(asker)
      await ask(caller)
      await h.settle()
      return (await statementsDuring(() => ask(caller))).filter((text) => !depends.test(text))
    }

    for (const asker of askers) {
      for (const [path, most] of lists) {
        it(`GET ${path} for a ${asker}`, async () => {
          const asked = path.replace('{parent}', parent)
          const statements = await statementsOf(asker, async (caller) => assertSucceeds(await caller.get(asked)))
          assertFew(statements, most[asker])
        })
      }
      for (const [receiverType, receiver, most] of sends) {
        it(`POST /messages to a ${receiverType} by a ${asker}`, async () => {
          const body = { receiver, receiverType, data: { text: 'Hello' } }
          const statements = await statementsOf(asker, async (caller) =>
            assertSucceeds(await caller.post('/messages', body)),
          )
          assertFew(statements, most[asker])
        })
      }
    }

    function assertFew(statements: string[], most: number): void {
      const all = statements.map((text, n) => `${n + 1}. ${text.replaceAll(/\s+/g, ' ').slice(0, 200)}`)
      assert.ok(statements.length > 0, 'statements are not seen')
      assert.ok(statements.length <= most, `${statements.length} statements instead of ${most}:\n${all.join('\n')}`)
    }
  })
}
