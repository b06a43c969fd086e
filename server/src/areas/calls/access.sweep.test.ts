import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertSucceeds, type Caller, type House, house } from '../../../../tests/support/house.ts'
import { Comparison, doorsFor, linesOf, wordFor, wordForList } from '../../../../tests/support/matrix.ts'
import { appWith, as } from '../../../../tests/support/talk.ts'

/**
 * Who may see a call: Ada called Lin, who has blocked her since, and a group in which it rang for Max, but not for Kim.
 * Calls cannot be begun or changed through an operation yet.
 */
const table = linesOf(`
  act             app  initiator     receiver      outsider
  list            ok   ok            ok            absent
  get             ok   ok            ok            noCall
  transcriptions  ok   ok|wrongDoor  ok|wrongDoor  noCall|wrongDoor
  explain         ok   ok|wrongDoor  ok|wrongDoor  noCall|wrongDoor
`)

for (const database of databases) {
  describe(`who may see a call on ${database}`, () => {
    let h: House
    let app: AppClient
    before(async () => {
      h = await house({ database, way: 'dispatch' })
      app = await appWith(h, 'ada', 'lin', 'max', 'kim')
      const members = { participants: ['max', 'kim'] }
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members }, as('ada')))
    })
    after(() => h.close())

    const startAt = 1_767_225_600
    const scripts = [
      ['between two', 'lin', { initiator: 'ada', receiver: 'lin', startAt, steps: [] }],
      [
        'in a group',
        'max',
        { initiator: 'ada', receiver: 'g', receiverType: 'group', invited: ['max'], startAt, steps: [] },
      ],
    ] as const
    for (const [where, receiver, script] of scripts) {
      it(where, async () => {
        const { sessionId } = await app.play(script)
        assertSucceeds(await app.post('/users/lin/blockedusers', { blockedUids: ['ada'] }))
        const acts: Record<string, (caller: Caller) => Promise<string>> = {
          list: async (caller) => wordForList(await caller.get('/calls'), (call) => call.sessionId === sessionId),
          get: async (caller) => wordFor(await caller.get(`/calls/${sessionId}`)),
          transcriptions: async (caller) => wordFor(await caller.get(`/calls/${sessionId}/transcriptions`)),
          explain: async (caller) => wordFor(await caller.get(`/calls/${sessionId}/explain`)),
        }
        const parts = [
          ['app', undefined],
          ['initiator', 'ada'],
          ['receiver', receiver],
          ['outsider', 'kim'],
        ] as const
        const comparison = new Comparison()
        for (const [who, uid] of parts) {
          for (const { name, caller } of await doorsFor(h, app, uid)) {
            for (const { act = '', [who]: cell } of table) {
              const word = (await acts[act]?.(caller)) ?? assert.fail(`${act} is no act`)
              comparison.check(cell, name, word, `${who}: ${act}`)
            }
          }
        }
        comparison.end()
      })
    }
  })
}
