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
  ['/conversations', { client: 99, acting: 99, server: 99 }],
  ['/messages', { client: 99, acting: 99, server: 99 }],
  ['/messages?unread=true&count=true', { client: 99, acting: 99, server: 99 }],
  ['/users/bob/messages', { client: 99, acting: 99, server: 99 }],
  ['/groups/g3/messages', { client: 99, acting: 99, server: 99 }],
  ['/messages/{parent}/thread', { client: 99, acting: 99, server: 99 }],
  ['/threads', { client: 99, acting: 99, server: 99 }],
  ['/users', { client: 99, acting: 99, server: 99 }],
  ['/groups', { client: 99, acting: 99, server: 99 }],
  ['/groups/g3/members', { client: 99, acting: 99, server: 99 }],
]

const sends: [receiverType: 'user' | 'group', receiver: string, most: Most][] = [
  ['user', 'bob', { client: 99, acting: 99, server: 99 }],
  ['group', 'g3', { client: 99, acting: 99, server: 99 }],
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

    /** Whoever enters is known for a moment, so the doors are asked before. */
    async function countOf(asker: keyof Most, ask: (caller: Caller) => Promise<unknown>): Promise<string[]> {
      const caller = call(asker)
      await caller.get('/users/bob')
      return (await statementsDuring(() => ask(caller))).filter((text) => !/from "(auth_tokens|api_keys|apps)"/.test(text))
    }

    for (const asker of askers) {
      for (const [path, most] of lists) {
        it(`GET ${path} for a ${asker}`, async () => {
          const asked = path.replace('{parent}', parent)
          const statements = await countOf(asker, async (caller) => assertSucceeds(await caller.get(asked)))
          assertFew(statements, most[asker])
        })
      }
      for (const [receiverType, receiver, most] of sends) {
        it(`POST /messages to a ${receiverType} by a ${asker}`, async () => {
          const body = { receiver, receiverType, data: { text: 'Hello' } }
          const statements = await countOf(asker, async (caller) => assertSucceeds(await caller.post('/messages', body)))
          assertFew(statements, most[asker])
        })
      }
    }

    function assertFew(statements: string[], most: number): void {
      if (process.env.SHOW) console.log(`## ${database} ${statements.length}`)
      const all = statements.map((text, n) => `${n + 1}. ${text.replaceAll(/\s+/g, ' ').slice(0, 200)}`)
      assert.ok(statements.length <= most, `${statements.length} statements instead of ${most}:\n${all.join('\n')}`)
    }
  })
}
