import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { dump } from '../../../../tests/support/dump.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as, say } from '../../../../tests/support/talk.ts'

const button = (elementId: string) => ({ elementType: 'button', elementId, buttonText: elementId })

for (const database of databases) {
  describe(`interactions on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const form = (app: AppClient, more: object = {}) =>
      say(app, 'lin', 'ada', '', {
        category: 'interactive',
        type: 'form',
        data: {
          interactiveData: {
            title: 'Join us',
            formFields: [{ elementType: 'textInput', elementId: 'name', label: 'Name' }, button('later')],
            submitElement: { ...button('send'), action: { actionType: 'urlNavigation', url: 'https://example.org' } },
          },
          ...more,
        },
      })
    const interact = (app: AppClient, id: string, uid: string | undefined, interactions?: unknown) =>
      app.send(`/messages/${id}/interacted`, {
        method: 'PATCH',
        body: { interactions },
        ...(uid !== undefined && { headers: as(uid) }),
      })
    const doneBy = async (app: AppClient, id: string, uid?: string) =>
      assertSucceeds(await app.get(`/messages/${id}`, uid === undefined ? undefined : as(uid))).data.data.interactions
    const goals = async (app: AppClient) =>
      (await dump(h)).events
        ?.map((row) => JSON.parse(row))
        .filter(({ app_id, name }) => app_id === app.id && name === 'interaction.goalCompleted')
        .map(({ payload }) => JSON.parse(payload)) ?? []

    it('come by another path as well, which without any says that the message is read', async () => {
      const app = await appWith(h, 'ada', 'lin', 'max')
      const { id } = await form(app)
      const post = (of: string, uid: string, body?: object) => app.post(`/messages/${of}/interactions`, body, as(uid))
      const { data } = assertSucceeds(await post(id, 'ada', { interactions: ['name'] }))
      assert.deepEqual(Object.keys(data), ['success', 'message'])
      assert.deepEqual(
        (await doneBy(app, id, 'ada')).map(({ elementId }: { elementId: string }) => elementId),
        ['name'],
      )
      for (const interactions of [[], ['none'], 'name']) {
        assertFails(await post(id, 'ada', { interactions }), 400, 'ERR_BAD_REQUEST')
      }
      const [one, two] = [await say(app, 'lin', 'ada'), await say(app, 'lin', 'ada')]
      const unread = async () =>
        assertSucceeds(await app.get('/users/lin/conversation', as('ada'))).data.unreadMessageCount
      assert.equal(await unread(), '3')
      assert.equal(assertSucceeds(await post(one.id, 'ada')).data.success, true)
      assert.equal(await unread(), '1')
      assertSucceeds(await post(two.id, 'ada', {}))
      assert.equal(await unread(), '0')
      assert.ok(assertSucceeds(await app.get(`/messages/${two.id}`)).data.readAt)
      assertFails(await post(two.id, 'max'), 403, 'ERR_MESSAGE_NO_ACCESS')
      assertFails(await app.post(`/messages/${two.id}/interactions`), 400, 'ERR_BAD_REQUEST')
    })

    it('are recorded for each user, with the time of the first', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await form(app, { allowSenderInteraction: true })
      const { data } = assertSucceeds(await interact(app, id, 'ada', ['name', 'name']))
      assert.deepEqual(Object.keys(data), ['success', 'message'])
      const [first] = await doneBy(app, id, 'ada')
      assert.deepEqual(Object.keys(first).toSorted(), ['elementId', 'interactedAt'])
      h.clock.setOffset(h.clock.offsetSeconds() + 5)
      assertSucceeds(await interact(app, id, 'ada', ['name', 'send']))
      const all = await doneBy(app, id, 'ada')
      assert.deepEqual(
        all.map(({ elementId }: { elementId: string }) => elementId),
        ['name', 'send'],
      )
      assert.equal(all[0].interactedAt, first.interactedAt)
      assert.equal(await doneBy(app, id, 'lin'), undefined)
      assert.equal(await doneBy(app, id), undefined)
      const { data: listed } = assertSucceeds(await app.get('/users/lin/messages', as('ada')))
      assert.equal(listed[0].data.interactions.length, 2)
    })

    it('name elements of an interactive message, or nothing is recorded', async () => {
      const app = await appWith(h, 'ada', 'lin', 'out')
      const { id } = await form(app)
      const plain = await say(app, 'lin', 'ada')
      for (const wrong of [['name', 'none'], [], undefined, 'name', [''], [5]]) {
        assertFails(await interact(app, id, 'ada', wrong), 400, 'ERR_BAD_REQUEST')
      }
      assertFails(await interact(app, plain.id, 'ada', ['name']), 400, 'ERR_BAD_REQUEST')
      assert.equal(await doneBy(app, id, 'ada'), undefined)
      assertFails(await interact(app, id, undefined, ['name']), 400, 'ERR_BAD_REQUEST')
      assertFails(await interact(app, id, 'out', ['name']), 403, 'ERR_MESSAGE_NO_ACCESS')
      assertFails(await interact(app, id, 'ghost', ['name']), 404, 'ERR_UID_NOT_FOUND')
      assertFails(await interact(app, '999999', 'ada', ['name']), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
    })

    it('are for interactive messages, with ids of any kind, and nobody can pretend them', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const long = 'x'.repeat(300)
      const ids = [long, 'Ø ❤️', ...Array.from({ length: 120 }, (_, n) => `e${n}`)]
      const { id } = await say(app, 'lin', 'ada', '', {
        category: 'interactive',
        type: 'customInteractive',
        data: {
          interactiveData: { all: ids.map((elementId) => ({ elementId })) },
          interactions: [{ elementId: 'e0', interactedAt: 1 }],
          moderation: { status: 'approved' },
        },
      })
      const { data } = assertSucceeds(await app.get(`/messages/${id}`, as('ada')))
      assert.deepEqual(['interactions' in data.data, 'moderation' in data.data], [false, false])
      assertSucceeds(await interact(app, id, 'ada', ids))
      assert.equal((await doneBy(app, id, 'ada')).length, ids.length)
      const { data: action } = assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'x' } }))
      for (const interactions of [['e0'], ['']]) {
        assertFails(await interact(app, action.id, 'ada', interactions), 400, 'ERR_BAD_REQUEST')
      }
      for (const odd of ['\0', '\ud800']) assertFails(await interact(app, id, 'ada', [odd]), 400, 'ERR_BAD_REQUEST')
    })

    it('go with a user who is deleted for good', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await form(app)
      assertSucceeds(await interact(app, id, 'ada', ['name']))
      assertSucceeds(await app.delete('/users/ada', { permanent: true }))
      await h.settle()
      assert.deepEqual(
        (await dump(h)).interactions?.filter((row) => row.includes(app.id)),
        [],
      )
    })

    it('are for the sender only where the message says so', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const [closed, open] = [await form(app), await form(app, { allowSenderInteraction: true })]
      assertFails(await interact(app, closed.id, 'lin', ['name']), 403, 'ERR_MESSAGE_ACTION_NOT_ALLOWED')
      assertSucceeds(await interact(app, open.id, 'lin', ['name']))
      assertSucceeds(await app.delete(`/messages/${open.id}`))
      assertFails(await interact(app, open.id, 'ada', ['name']), 403, 'ERR_MESSAGE_ACTION_NOT_ALLOWED')
    })

    const cases: [string, string[], string[][], number | undefined][] = [
      ['anyAction', [], [['later']], 0],
      ['anyOf', ['name', 'send'], [['later'], ['send']], 1],
      ['oneOf', ['name'], [['later'], ['name']], 1],
      ['allOf', ['name', 'send'], [['name'], ['later'], ['send']], 2],
      ['none', ['name'], [['name'], ['send', 'later']], undefined],
    ]
    for (const [type, elementIds, steps, metAt] of cases) {
      it(`tell once that the goal ${type} is met`, async () => {
        const app = await appWith(h, 'ada', 'lin')
        const { id } = await form(app, { interactionGoal: { type, elementIds } })
        for (const [step, elements] of steps.entries()) {
          assertSucceeds(await interact(app, id, 'ada', elements))
          assert.equal((await goals(app)).length, metAt !== undefined && step >= metAt ? 1 : 0, `after step ${step}`)
        }
        assertSucceeds(await interact(app, id, 'ada', ['name', 'send', 'later']))
        const told = await goals(app)
        assert.equal(told.length, metAt === undefined ? 0 : 1)
        for (const { messageId, sender, receiverId, receiverType, interactions } of told) {
          assert.deepEqual([messageId, sender.uid, receiverId, receiverType], [id, 'ada', 'ada', 'user'])
          assert.ok(interactions.length > 0)
        }
      })
    }

    it('tell once that a goal is met, also when all is done at once', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await form(app, { interactionGoal: { type: 'allOf', elementIds: ['name', 'later', 'send'] } })
      const all = await Promise.all(['name', 'later', 'send'].map((element) => interact(app, id, 'ada', [element])))
      for (const answer of all) assertSucceeds(answer)
      assert.equal((await goals(app)).length, 1)
    })

    it('stand on messages that make sense', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const send = (data: object, type = 'card') =>
        app.post('/messages', { receiver: 'ada', receiverType: 'user', category: 'interactive', type, data }, as('lin'))
      const good = { cardActions: [button('a'), button('b')] }
      assertSucceeds(await send({ interactiveData: good }))
      assertSucceeds(await send({ interactiveData: { whatever: 1 } }, 'customInteractive'))
      const wrong: object[] = [
        {},
        { interactiveData: [] },
        { interactiveData: { cardActions: [button('a'), button('a')] } },
        { interactiveData: { cardActions: [{ ...button('a'), action: { actionType: 'explode' } }] } },
        { interactiveData: { cardActions: [{ ...button('a'), action: { actionType: { toString: 1 } } }] } },
        { interactiveData: good, interactionGoal: { type: 'someOf' } },
        { interactiveData: good, interactionGoal: { type: { toString: 1 } } },
        { interactiveData: good, interactionGoal: { type: 'allOf', elementIds: 'a' } },
        { interactiveData: good, allowSenderInteraction: 'yes' },
      ]
      for (const data of wrong) assertFails(await send(data), 400, 'ERR_INVALID_MESSAGE_DATA')
      assertFails(await send({ interactiveData: good }, 'poll'), 400, 'ERR_INVALID_MESSAGE_TYPE')
    })
  })
}
