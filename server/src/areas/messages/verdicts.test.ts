import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { appWith, as } from '../../../../tests/support/talk.ts'
import { area } from '../../kit/area.ts'
import { beforeSend, type Proposal, type Verdict } from './index.ts'

const asked: Proposal[] = []

const judge = area({
  name: 'judge',
  about: 'Answers what the text of a message says.',
  answers: [
    beforeSend.answeredBy(async (_work, proposal) => {
      asked.push(proposal)
      return (proposal.data as { text: string }).text as Verdict
    }),
  ],
})

for (const database of databases) {
  describe(`verdicts on messages on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database, areas: [judge] })
    })
    after(() => h.close())

    it('let a message pass, or refuse it; one to hold is refused with the reason, and nothing is left of either', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const send = (text: Verdict) =>
        app.post('/messages', { receiver: 'lin', receiverType: 'user', data: { text } }, as('ada'))
      assertSucceeds(await send('pass'))
      const refused = await send('refuse')
      assertFails(refused, 403, 'ERR_BLOCKED_BY_EXTENSION')
      assert.equal(refused.body.error.message, 'The message was refused.')
      const held = await send('hold')
      assertFails(held, 403, 'ERR_BLOCKED_BY_EXTENSION')
      assert.match(held.body.error.message, /has to wait for a review/)
      const { data } = assertSucceeds(await app.get('/users/lin/messages', as('ada')))
      assert.deepEqual(
        data.map((message: { data: { text: string } }) => message.data.text),
        ['pass'],
      )
    })

    it('know who says what to whom', async () => {
      const app = await appWith(h, 'ada', 'lin')
      asked.length = 0
      assertSucceeds(
        await app.post('/messages', { receiver: 'lin', receiverType: 'user', data: { text: 'pass' } }, as('ada')),
      )
      const [{ sender, receiver, receiverType, category, type, data } = assert.fail('nobody was asked')] = asked
      assert.deepEqual(
        { sender, receiver, receiverType, category, type, data },
        {
          sender: 'ada',
          receiver: 'lin',
          receiverType: 'user',
          category: 'message',
          type: 'text',
          data: { text: 'pass' },
        },
      )
    })
  })
}
