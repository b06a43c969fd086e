import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { withoutContent, withoutTrace } from '../server/src/areas/messages/history.ts'
import { databases } from './support/databases.ts'
import { type AppClient, assertSucceeds, type House, house } from './support/house.ts'
import type { Answer } from './support/http.ts'
import { thorough } from './support/quick.ts'
import { randomFrom, seedFrom } from './support/random.ts'
import { appWith, as, say, sayIn } from './support/talk.ts'
import { type Logged, logOf } from './support/told.ts'

/** What is told about messages and conversations: each change once, to whom it concerns, with all that there is to know. */

// biome-ignore lint/suspicious/noExplicitAny: tests look into records freely
type Message = any

for (const database of databases) {
  describe(`events on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const later = (seconds = 2) => h.clock.setOffset(h.clock.offsetSeconds() + seconds)

    describe('of every change', () => {
      let app: AppClient
      let read = 0
      before(async () => {
        app = await appWith(h, 'ada', 'lin', 'max')
        const members = { participants: ['lin', 'max'] }
        assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew', members }, as('ada')))
        await news()
      })

      /** What was told since the last time. Then all is read, so that whoever speaks next has nothing to catch up on. */
      async function news(): Promise<Logged[]> {
        const log = await logOf(h, app)
        const since = log.slice(read)
        for (const [uid, path] of [
          ['ada', '/users/lin'],
          ['lin', '/users/ada'],
          ...['ada', 'lin', 'max'].map((each) => [each, '/groups/crew'] as const),
        ] as const) {
          await app.post(`${path}/conversation/read`, {}, as(uid))
        }
        read = (await logOf(h, app)).length
        later()
        return since
      }
      const heads = (log: Logged[]) => log.map(({ name, audience, told }) => [name, audience, told?.trigger])
      const two = ['user:lin', 'user:ada']

      it('a message to a user, to a group, and one that names somebody', async () => {
        const message = await say(app, 'lin', 'ada')
        const [sent, ...more] = await news()
        assert.ok(sent)
        assert.deepEqual([heads([sent]), more], [[['message.sent', two, 'message_sent']], []])
        const { threadSubscribed, ...told } = message
        assert.equal(threadSubscribed, true)
        assert.deepEqual(sent.told?.data, { message: told })

        await sayIn(app, 'crew', 'lin')
        assert.deepEqual(heads(await news()), [['message.sent', ['group:crew'], 'message_sent']])

        await say(app, 'lin', 'ada', '<@uid:ada> and <@uid:max>')
        const [naming, ...rest] = await news()
        assert.deepEqual([naming?.name, rest], ['message.sent', []])
        assert.deepEqual(
          naming?.toldOfEach.map(({ trigger, data }) => [trigger, Object.keys(data.message.data.mentions)]),
          [
            ['user_mentioned', ['ada']],
            ['user_mentioned', ['max']],
          ],
        )
        for (const { data } of naming?.toldOfEach ?? []) {
          assert.equal(data.message.data.text, '<@uid:ada> and <@uid:max>')
        }
      })

      it('a message that quotes another has it inside', async () => {
        const quoted = await say(app, 'lin', 'ada', 'first')
        await say(app, 'ada', 'lin', 'second', { quotedMessageId: quoted.id })
        const sent = (await news()).at(-1)
        assert.equal(sent?.told?.data.message.quotedMessage.data.text, 'first')
      })

      it('an edit and a deletion, with the message itself, who did it, and to what', async () => {
        const { id } = await say(app, 'lin', 'ada', 'Ready?')
        assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'Ready at ten?' } }, as('lin')))
        assertSucceeds(await app.delete(`/messages/${id}`, undefined, as('lin')))
        const [, ...log] = await news()
        assert.deepEqual(heads(log), [
          ['message.actionWritten', ['user:ada', 'user:lin'], undefined],
          ['message.edited', [], 'message_edited'],
          ['message.actionWritten', ['user:ada', 'user:lin'], undefined],
          ['message.deleted', [], 'message_deleted'],
        ])
        const [edited, deleted] = [log[1]?.told?.data.message, log[3]?.told?.data.message]
        assert.deepEqual(
          [edited.id, edited.category, edited.type, edited.data.text, edited.data.action, edited.editedBy],
          [id, 'message', 'text', 'Ready at ten?', 'edited', 'lin'],
        )
        const { by, for: where, on, sender } = edited.data.entities
        assert.deepEqual(
          [by.entity.uid, where.entity.uid, on.entity.id, on.entity.data.text, sender.entity.uid],
          ['lin', 'ada', id, 'Ready at ten?', 'lin'],
        )
        assert.deepEqual(
          [deleted.id, deleted.data.action, deleted.deletedBy, 'text' in deleted.data],
          [id, 'deleted', 'lin', false],
        )
        assert.equal('text' in deleted.data.entities.on.entity.data, false)
      })

      it('what the app changes between two is told to both', async () => {
        const { id } = await say(app, 'lin', 'ada')
        assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'By the app' } }))
        const [, action] = await news()
        assert.deepEqual(action?.audience, ['user:ada', 'user:lin'])
        assert.equal(action?.payload.message.sender, 'app_system')
      })

      it('a message that is removed for good', async () => {
        const { id } = await say(app, 'lin', 'ada', 'secret')
        assertSucceeds(await app.delete(`/messages/${id}`, { permanent: true }))
        const [, ...log] = await news()
        assert.deepEqual(heads(log), [
          ['messages.erased', [], undefined],
          ['message.purged', two, 'message_deleted'],
        ])
        assert.doesNotMatch(JSON.stringify(log), /secret/)
      })

      it('reactions, once each', async () => {
        const { id } = await say(app, 'lin', 'ada')
        for (const method of ['post', 'delete'] as const) {
          for (let n = 0; n < 2; n += 1) {
            assertSucceeds(await app[method](`/messages/${id}/reactions/yes`, undefined, as('ada')))
          }
        }
        const [, ...log] = await news()
        assert.deepEqual(heads(log), [
          ['reaction.added', two, 'message_reaction_added'],
          ['reaction.removed', two, 'message_reaction_removed'],
        ])
        const { reaction } = log[0]?.told?.data ?? {}
        const { receiverId, receiverType, conversationId, parentMessageId } = log[0]?.payload ?? {}
        assert.deepEqual(
          [receiverId, receiverType, conversationId, parentMessageId],
          ['ada', 'user', 'ada_user_lin', undefined],
        )
        assert.deepEqual(Object.keys(reaction).toSorted(), [
          ...['id', 'messageId', 'reactedAt', 'reactedBy', 'reaction', 'uid'],
        ])
        assert.deepEqual([reaction.messageId, reaction.uid, reaction.reactedBy.uid], [id, 'ada', 'ada'])
        assert.equal(log[1]?.told?.data.reaction.id, reaction.id)
      })

      it('pins to all, saves to oneself', async () => {
        const { id } = await say(app, 'lin', 'ada')
        for (const what of ['pin', 'save']) {
          assertSucceeds(await app.post(`/messages/${id}/${what}`, undefined, as('ada')))
          for (let n = 0; n < 2; n += 1) {
            assertSucceeds(await app.delete(`/messages/${id}/${what}`, undefined, as('ada')))
          }
        }
        const [, ...log] = await news()
        assert.deepEqual(heads(log), [
          ['message.pinned', two, 'message_pinned'],
          ['message.unpinned', two, 'message_unpinned'],
          ['message.saved', ['user:ada'], undefined],
          ['message.unsaved', ['user:ada'], undefined],
        ])
        for (const { payload } of log) assert.equal('threadSubscribed' in payload.message, false)
        const [pinned, unpinned] = [log[0]?.told?.data.message, log[1]?.told?.data.message]
        assert.deepEqual([pinned.pinnedBy, typeof pinned.pinnedAt], ['ada', 'number'])
        assert.deepEqual([unpinned.unpinnedBy, typeof unpinned.unpinnedAt], ['ada', 'number'])
        assert.deepEqual(['pinnedBy' in unpinned, 'pinnedAt' in unpinned], [false, false])
      })

      it('that something was received and read, by one and by all', async () => {
        const { id } = await say(app, 'lin', 'ada')
        for (const mark of ['delivered', 'read', 'read']) {
          assertSucceeds(await app.post(`/users/lin/conversation/${mark}`, {}, as('ada')))
        }
        const [, ...log] = await news()
        assert.deepEqual(heads(log), [
          ['receipt.delivered', two, 'message_delivery_receipt'],
          ['receipt.read', two, 'message_read_receipt'],
        ])
        const { body, ...receipt } = log[1]?.told?.data ?? {}
        assert.deepEqual(receipt, {
          receiver: 'lin',
          receiverType: 'user',
          type: 'receipts',
          sender: 'ada',
          messageSender: 'lin',
        })
        assert.deepEqual([body.action, body.messageId], ['read', id])
        const { uid, status, hasBlockedMe, blockedByMe, deactivatedAt } = body.user
        assert.deepEqual([uid, status, hasBlockedMe, blockedByMe, deactivatedAt], ['ada', 'online', false, false, 0])
        assert.equal(typeof body.timestamp, 'number')

        const said = await sayIn(app, 'crew', 'lin')
        assertSucceeds(await app.post('/groups/crew/conversation/read', {}, as('ada')))
        assertSucceeds(await app.post('/groups/crew/conversation/read', {}, as('max')))
        const group = ['group:crew']
        const events = await news()
        assert.deepEqual(heads(events), [
          ['message.sent', group, 'message_sent'],
          ['receipt.delivered', group, 'message_delivery_receipt'],
          ['receipt.read', group, 'message_read_receipt'],
          ['receipt.delivered', group, 'message_delivery_receipt'],
          ['receipt.read', group, 'message_read_receipt'],
          // Only who said it waits for all.
          ['receipt.deliveredToAll', ['user:lin'], 'message_delivered_to_all'],
          ['receipt.readByAll', ['user:lin'], 'message_read_by_all'],
        ])
        const all = events.at(-1)?.told?.data
        assert.deepEqual(
          [all.sender, all.body.user.uid, all.body.action, all.body.messageId, all.receiver, all.messageSender],
          ['app_system', 'app_system', 'readByAll', said.id, 'crew', 'lin'],
        )
      })

      it('that whoever speaks has read what was said before, and so perhaps everybody has', async () => {
        const said = await say(app, 'lin', 'ada')
        await say(app, 'ada', 'lin')
        const between = (await news()).slice(1)
        assert.deepEqual(heads(between), [
          ['receipt.delivered', two, 'message_delivery_receipt'],
          ['receipt.read', two, 'message_read_receipt'],
          ['message.sent', ['user:ada', 'user:lin'], 'message_sent'],
        ])
        assert.equal(between[1]?.told?.data.body.messageId, said.id)
        const first = await sayIn(app, 'crew', 'lin')
        assertSucceeds(await app.post('/groups/crew/conversation/read', {}, as('max')))
        await sayIn(app, 'crew', 'ada')
        const inGroup = (await news()).slice(-5)
        assert.deepEqual(
          inGroup.map(({ name, payload }) => [name, payload.messageId]),
          [
            ['receipt.delivered', first.id],
            ['receipt.read', first.id],
            ['receipt.deliveredToAll', first.id],
            ['receipt.readByAll', first.id],
            ['message.sent', undefined],
          ],
        )
        const { readAt } = assertSucceeds(await app.get(`/messages/${first.id}`)).data
        assert.equal(readAt, inGroup[3]?.payload.timestamp)
      })

      it('that everybody has read, once the only one goes who had not', async () => {
        const { id } = await sayIn(app, 'crew', 'lin')
        assertSucceeds(await app.post('/groups/crew/conversation/read', {}, as('ada')))
        await news()
        const second = await sayIn(app, 'crew', 'lin')
        await sayIn(app, 'crew', 'ada')
        const before = (await logOf(h, app)).length
        assertSucceeds(await app.delete('/groups/crew/members/max'))
        const told = (await logOf(h, app)).slice(before).filter(({ name }) => name.startsWith('receipt.'))
        assert.deepEqual(
          told.map(({ name, audience, payload }) => [name, audience, payload.messageId]),
          [
            ['receipt.deliveredToAll', ['user:lin'], second.id],
            ['receipt.readByAll', ['user:lin'], second.id],
          ],
        )
        assert.ok(assertSucceeds(await app.get(`/messages/${id}`)).data.readAt)
        assertSucceeds(await app.post('/groups/crew/members', { participants: ['max'] }))
        await news()
      })

      it('between two with a block, to the one who did it alone', async () => {
        const [own, other] = [await say(app, 'ada', 'lin'), await say(app, 'ada', 'lin')]
        const { id } = await say(app, 'lin', 'ada')
        assertSucceeds(await app.post(`/messages/${id}/reactions/yes`, undefined, as('ada')))
        assertSucceeds(await app.post(`/messages/${id}/pin`, undefined, as('ada')))
        assertSucceeds(await app.post('/users/lin/blockedusers', { blockedUids: ['ada'] }))
        await logOf(h, app).then((log) => {
          read = log.length
        })
        const acts: [string, () => Promise<Answer>][] = [
          ['reaction.removed', () => app.delete(`/messages/${id}/reactions/yes`, undefined, as('ada'))],
          ['message.unpinned', () => app.delete(`/messages/${id}/pin`, undefined, as('ada'))],
          ['message.actionWritten', () => app.delete(`/messages/${other.id}`, undefined, as('ada'))],
          ['message.purged', () => app.delete(`/messages/${own.id}`, { permanent: true }, as('ada'))],
          ['receipt.read', () => app.post('/users/lin/conversation/read', {}, as('ada'))],
        ]
        for (const [name, act] of acts) {
          assertSucceeds(await act())
          const log = (await logOf(h, app)).slice(read)
          read += log.length
          const event = log.find((each) => each.name === name)
          assert.deepEqual(event?.audience, ['user:ada'], name)
          if (event?.told?.data.body) {
            const { hasBlockedMe, blockedByMe } = event.told.data.body.user
            assert.deepEqual([hasBlockedMe, blockedByMe], [false, true])
          }
        }
        assertSucceeds(await app.post(`/messages/${id}/pin`))
        assert.deepEqual((await logOf(h, app)).at(-1)?.audience, two)
        assertSucceeds(await app.delete('/users/lin/blockedusers', { blockedUids: ['ada'] }))
        await news()
      })

      it('what one does with one’s own side of a conversation', async () => {
        const { id } = await say(app, 'lin', 'ada')
        assertSucceeds(await app.post('/users/lin/conversation/read', {}, as('ada')))
        await news()
        assertSucceeds(
          await app.delete('/users/lin/conversation/read', { messageId: id - 1 || 0 }, as('ada')).then(orZero),
        )
        assertSucceeds(await app.put('/users/lin/conversation', { tags: ['a'] }, as('ada')))
        for (const method of ['post', 'post', 'delete', 'delete'] as const) {
          assertSucceeds(await app[method]('/users/lin/conversation/pin', undefined, as('ada')))
        }
        for (const method of ['delete', 'delete', 'post', 'post'] as const) {
          assertSucceeds(await app[method](`/messages/${id}/thread/subscription`, undefined, as('lin')))
        }
        assertSucceeds(await app.delete('/users/lin/conversation', {}, as('ada')))
        const log = await news()
        assert.deepEqual(heads(log), [
          ['conversation.markedUnread', ['user:ada'], undefined],
          ['conversation.tagged', ['user:ada'], undefined],
          ['conversation.pinned', ['user:ada'], 'conversation_pinned'],
          ['conversation.unpinned', ['user:ada'], 'conversation_unpinned'],
          ['thread.unfollowed', ['user:lin'], undefined],
          ['thread.followed', ['user:lin'], undefined],
          ['conversation.reset', ['user:ada'], undefined],
        ])
        const { conversation, by } = log[2]?.told?.data ?? {}
        assert.deepEqual(
          [conversation.conversationId, conversation.pinnedBy, by.uid, by.name],
          ['ada_user_lin', 'ada', 'ada', 'ADA'],
        )
      })

      /** Takes back everything as unread where the message before belongs to another conversation. */
      async function orZero(answer: Awaited<ReturnType<AppClient['delete']>>) {
        return answer.status === 200 ? answer : app.delete('/users/lin/conversation/read', { messageId: 0 }, as('ada'))
      }

      it('what is pinned for everyone', async () => {
        const put = async (...pinnedConversations: object[]) =>
          assertSucceeds(await app.put('/conversations/pinned', { pinnedConversations }))
        await put({ guid: 'crew' }, { uid: 'lin' })
        await put({ uid: 'lin' })
        await put()
        assert.deepEqual(heads(await news()), [
          ['conversation.pinned', ['app'], 'conversation_pinned'],
          ['conversation.pinned', ['app'], 'conversation_pinned'],
          ['conversation.unpinned', ['app'], 'conversation_unpinned'],
          ['conversation.unpinned', ['app'], 'conversation_unpinned'],
        ])
      })

      it('nothing, where nothing changed', async () => {
        const { id } = await say(app, 'lin', 'ada')
        await news()
        await app.put(`/messages/${id}`, { data: { text: '' } }, as('lin'))
        await app.put(`/messages/${id}`, { data: { text: 'x' } }, as('ada'))
        await app.delete(`/messages/${id}`, undefined, as('max'))
        await app.post(`/messages/${id}/pin`, undefined, as('max'))
        await app.post('/messages', { receiver: 'ghost', receiverType: 'user', data: { text: 'x' } }, as('lin'))
        assert.deepEqual(await news(), [])
      })
    })

    it('make of an old state the state there is', thorough, async (test) => {
      const seed = seedFrom('EVENTS_SEED')
      test.diagnostic(`EVENTS_SEED=${seed}`)
      const random = randomFrom(seed)
      const app = await appWith(h, 'ada', 'lin')
      const members = { admins: ['ada', 'lin'] }
      assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members }))
      const fetched = async () => {
        const { data } = assertSucceeds(await app.get('/messages?limit=1000&withTags=true'))
        return new Map<string, Message>(data.map((message: Message) => [message.id, message]))
      }
      const [state, already] = [await fetched(), (await logOf(h, app)).length]
      for (let step = 0; step < 120; step += 1) {
        later(random.whole(0, 2))
        await doSomething(app, [...(await fetched()).values()])
      }
      await h.settle()
      for (const event of (await logOf(h, app)).slice(already)) apply(state, event)
      assert.deepEqual(byId(state), byId(await fetched()))

      async function doSomething(talk: AppClient, messages: Message[]): Promise<void> {
        const [uid, other] = random.pick([
          ['ada', 'lin'],
          ['lin', 'ada'],
        ] as const)
        const said = messages.filter(({ category, deletedAt }) => category === 'message' && !deletedAt)
        const parents = said.filter(({ parentId }) => !parentId)
        const direct = random.chance(0.5)
        if (said.length < 3 || random.chance(0.3)) {
          const place = direct ? 'ada_user_lin' : 'group_g'
          const among = (list: Message[]) => list.filter(({ conversationId }) => conversationId === place)
          const [quotable, threads] = [among(said), among(parents)]
          const more = {
            ...(random.chance(0.3) && { tags: ['t'] }),
            ...(random.chance(0.2) && quotable.length > 0 && { quotedMessageId: random.pick(quotable).id }),
            ...(random.chance(0.3) && threads.length > 0 && { parentId: random.pick(threads).id }),
          }
          await (direct ? say(talk, uid, other, `step ${uid}`, more) : sayIn(talk, 'g', uid, `step ${uid}`, more))
          return
        }
        const { id, sender } = random.pick(said)
        const path = `/messages/${id}`
        const acts = [
          () => talk.put(path, { data: { text: `edited <@uid:${other}>` }, tags: ['new'] }, as(sender)),
          () => talk.delete(path, undefined, as(sender)),
          () => talk.delete(path, { permanent: true }),
          () => talk.post(`${path}/reactions/${random.pick(['yes', 'no'])}`, undefined, as(uid)),
          () => talk.post(`${path}/reactions/yes`, undefined, as(uid)),
          () => talk.delete(`${path}/reactions/${random.pick(['yes', 'no'])}`, undefined, as(uid)),
          () => talk.post(`${path}/pin`, undefined, as(uid)),
          () => talk.delete(`${path}/pin`, undefined, as(uid)),
          () => talk.post(`/users/${other}/conversation/${random.pick(['delivered', 'read'])}`, {}, as(uid)),
          () => talk.post(`/groups/g/conversation/${random.pick(['delivered', 'read'])}`, {}, as(uid)),
        ]
        await random.pick(acts)()
        await h.settle()
      }
    })
  })
}

/** In order. Of actions it is not told who has read them: nobody waits for that. */
function byId(state: Map<string, Message>): Message[] {
  const seen = ({ category, deliveredAt: _, readAt: __, updatedAt: ___, ...message }: Message) => ({
    category,
    ...message,
  })
  return [...state.values()]
    .map((message) => (message.category === 'action' ? seen(message) : message))
    .toSorted((a, b) => Number(a.id) - Number(b.id))
}

const receipts: Record<string, 'deliveredAt' | 'readAt'> = {
  'receipt.delivered': 'deliveredAt',
  'receipt.read': 'readAt',
  'receipt.deliveredToAll': 'deliveredAt',
  'receipt.readByAll': 'readAt',
}

/** Everything up to a message has been received or read: by the other of two, or by everybody in a group. */
function mark(state: Map<string, Message>, name: string, payload: Message): void {
  const field = receipts[name]
  const { conversationId, receiverType, sender, messageId, timestamp } = payload
  if (!field || (receiverType === 'group' && sender !== 'app_system')) return
  for (const message of [...state.values()].flatMap((each) => [
    each,
    ...(each.quotedMessage ? [each.quotedMessage] : []),
  ])) {
    const { id, category } = message
    if (message.conversationId !== conversationId || category === 'action' || Number(id) > Number(messageId)) continue
    if (message.sender === sender || message[field] !== undefined) continue
    message[field] = timestamp
    message.deliveredAt ??= timestamp
    message.updatedAt = Math.max(message.updatedAt, timestamp)
  }
}

/** What a client does that was told; the same for all who look. */
function apply(state: Map<string, Message>, { name, payload }: Logged): void {
  const { message } = payload
  const known = state.get(message?.id)
  mark(state, name, payload)
  switch (name) {
    case 'message.sent': {
      state.set(message.id, structuredClone(message))
      countReply(state, message.parentId, 1, message.sentAt)
      return
    }
    case 'message.actionWritten': {
      const { on } = message.data.entities
      if (on.entityType === 'message') {
        if (message.data.action === 'deleted') blankHistory(state, on.entity.id, withoutContent)
        // An action does not repeat what its message quotes; whoever knows it keeps it.
        const { quotedMessage } = state.get(on.entity.id) ?? {}
        const quotes = quotedMessage && on.entity.quotedMessageId !== undefined
        replace(state, structuredClone({ ...on.entity, ...(quotes && { quotedMessage }) }))
      }
      state.set(message.id, message)
      return
    }
    case 'message.purged': {
      state.delete(message.id)
      blankHistory(state, message.id, withoutTrace)
      countReply(state, message.parentId, -1)
      for (const other of [...state.values()]) {
        if (other.parentId === message.id) {
          state.delete(other.id)
          blankHistory(state, other.id, withoutTrace)
        }
      }
      for (const other of state.values()) {
        if (other.quotedMessage && !state.has(other.quotedMessage.id)) delete other.quotedMessage
      }
      return
    }
    case 'message.pinned':
    case 'message.unpinned':
      replace(state, structuredClone(message))
      return
    case 'reaction.added':
    case 'reaction.removed':
      countReaction(known, payload.reaction.reaction, name === 'reaction.added' ? 1 : -1)
      for (const { quotedMessage } of state.values()) {
        if (quotedMessage?.id === message.id) quotedMessage.data = known.data
      }
      return
  }
}

/** On the message that the thread belongs to, and wherever it is quoted. */
function countReply(state: Map<string, Message>, parentId: string | undefined, change: number, at = 0): void {
  const parent = parentId === undefined ? undefined : state.get(parentId)
  if (!parent) return
  const replyCount = (parent.replyCount ?? 0) + change
  const quotes = [...state.values()].flatMap(({ quotedMessage }) => quotedMessage ?? [])
  for (const shown of [parent, ...quotes.filter(({ id }) => id === parentId)]) {
    shown.updatedAt = Math.max(shown.updatedAt, at)
    if (replyCount === 0) delete shown.replyCount
    else shown.replyCount = replyCount
  }
}

/** Nothing of what a message has lost lives on in what was told of it. */
function blankHistory(state: Map<string, Message>, id: string, left: (told: Message) => object): void {
  for (const { data } of state.values()) {
    const { on } = data.entities ?? {}
    if (on?.entityType === 'message' && on.entity.id === id) on.entity = left(on.entity)
  }
}

function replace(state: Map<string, Message>, message: Message): void {
  state.set(message.id, message)
  const { quotedMessage: _, ...bare } = message
  for (const other of state.values()) if (other.quotedMessage?.id === message.id) other.quotedMessage = bare
}

function countReaction(message: Message, reaction: string, change: number): void {
  const counts = structuredClone(message.data.reactions ?? [])
  const own = counts.find((each: Message) => each.reaction === reaction)
  if (own) own.count += change
  else counts.push({ reaction, count: 1 })
  const left = counts.filter(({ count }: Message) => count > 0)
  const { reactions: _, ...data } = message.data
  message.data = { ...data, ...(left.length > 0 && { reactions: left }) }
}
