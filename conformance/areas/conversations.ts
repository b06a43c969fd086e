import { type CheckedArea, check, data, done, equal, failure, holds, isSeconds, success } from '../check.ts'
import { actorWith, as, clientOf, idsIn, makeGroup, makeUser, makeUsers, say, sayIn, uidsIn } from '../people.ts'

const withUser = (uid: string, rest = '') => `/users/${uid}/conversation${rest}`
const denied = [403, 'ERR_PERMISSION_DENIED'] as const

export const conversations: CheckedArea = {
  name: 'conversations',
  title: 'Conversations',
  contract: '14',
  checks: [
    check('2 Record', 'begins with the first message, for both sides', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      failure(await server.api.send('GET', withUser(b), as(a)), 403, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
      const message = await say(server, a, b, { data: { text: `<@uid:${b}>` } })
      const mine = data(await server.api.send('GET', withUser(b), as(a)))
      const theirs = data(await server.api.send('GET', withUser(a), as(b)))
      equal([mine.unreadMessageCount, theirs.unreadMessageCount], ['0', '1'], 'unread on both sides')
      equal(theirs.unreadMentionsCount, 1, '`unreadMentionsCount`')
      equal([mine.conversationId, mine.conversationType], [message.conversationId, 'user'], 'id and type')
      equal([mine.conversationWith.uid, theirs.conversationWith.uid], [b, a], 'with whom')
      equal(theirs.lastMessage.id, message.id, 'the last message')
      holds(isSeconds(theirs.updatedAt), '`updatedAt` in seconds')
    }),
    check('2 Record', 'types and places of what is in it', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      await say(server, b, a)
      const { conversationId, ...single } = data(await server.api.send('GET', withUser(b), as(a)))
      holds(!Array.isArray(single), 'an object as `data`')
      equal(single.unreadMessageCount, '1', '`unreadMessageCount` as text')
      equal(single.conversationWith.conversationId, conversationId, '`conversationId` of the other user')
      const tagged = data(await server.api.send('PUT', withUser(b), { ...as(a), body: { tags: ['x'] } }))
      equal([Array.isArray(tagged), tagged.tags], [false, ['x']], 'the record with its tags')
      const [listed] = data(await server.api.send('GET', '/conversations', as(a)))
      equal(['uid' in listed, 'tags' in listed], [false, false], 'whether `uid` and `tags` are in a list of one’s own')
      const all = data(await server.api.get('/conversations?perPage=1000&unread=true'))
      const rows = all.filter((row: { conversationId: string }) => row.conversationId === conversationId)
      equal(
        rows.map((row: { uid: string; unreadMessageCount: string }) => [row.uid, row.unreadMessageCount]),
        [[a, '1']],
        'who has something unread, without an acting user',
      )
      equal('conversationId' in rows[0].conversationWith, false, '`conversationId` of the other user for the app')
    }),
    check('5, 6 Bodies', 'may be left out', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      await say(server, b, a)
      for (const mark of ['/delivered', '/read']) {
        equal(data(await server.api.send('POST', withUser(b, mark), as(a))).success, true, '`success`')
      }
      equal(data(await server.api.send('GET', withUser(b), as(a))).unreadMessageCount, '0', 'unread after that')
      done(await server.api.send('DELETE', withUser(b), as(a)))
      equal(data(await server.api.send('GET', '/conversations', as(a))), [], 'the list after that')
    }),
    check('3 Rows', 'a group is there for whoever joins, and not for others', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { guid } = await makeGroup(server, { members: { participants: [a] } })
      const path = `/groups/${guid}/conversation`
      const { conversationType, conversationWith } = data(await server.api.send('GET', path, as(a)))
      equal([conversationType, conversationWith.guid, conversationWith.hasJoined], ['group', guid, true], 'with what')
      failure(await server.api.send('GET', path, as(b)), 403, 'ERR_CONVERSATION_NOT_ACCESSIBLE')
    }),
    check('4 List', 'the latest activity first, with filters', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      await say(server, b, a)
      await say(server, a, c)
      const list = async (search = '') =>
        data(await server.api.send('GET', `/conversations${search}`, as(a))).map(
          (each: { conversationWith: { uid?: string } }) => each.conversationWith.uid,
        )
      equal((await list()).toSorted(), [b, c].toSorted(), 'with whom')
      equal(await list('?unread=true'), [b], 'with something unread')
      equal(await list('?conversationType=group'), [], 'groups')
      failure(await server.api.get('/conversations?hideAgentic=true&onlyAgentic=true'), 400, 'ERR_BAD_REQUEST')
      failure(await server.api.send('GET', '/conversations?unique=1', as(a)), 400, 'ERR_BAD_REQUEST')
    }),
    check('4 List', 'where nobody acts, `unread` keeps the sides of all who have something unread', async (server) => {
      const name = `${server.fresh('name')}.`
      const { uid: a } = await makeUser(server, { name })
      const [b = '', c = ''] = await makeUsers(server, 2)
      await say(server, b, a)
      await say(server, a, c)
      const sidesWith = async (search: string) =>
        uidsIn(data(await server.api.get(`/conversations?searchKey=${name}${search}`))).toSorted()
      equal(await sidesWith('&unread=true'), [c], 'who has not read what was said')
      for (const search of ['', '&unread=false', '&unread=maybe', '&unread=']) {
        equal(await sidesWith(search), [b, c].toSorted(), `who is listed with ${search || 'nothing asked'}`)
      }
    }),
    check('4 List', '`per_page` means `perPage`, which wins', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      for (const uid of [b, c]) await say(server, uid, a)
      for (const search of ['per_page=1', 'per_page=9&perPage=1']) {
        const { data: list, meta } = success(await server.api.send('GET', `/conversations?${search}`, as(a)))
        equal([list.length, meta.pagination.per_page, meta.pagination.total], [1, 1, 2], `what ${search} shows`)
      }
    }),
    check('4, 5 Permissions', 'listConversations: deny refuses the list and the single one', async (server) => {
      const [other = ''] = await makeUsers(server, 1)
      const uid = await actorWith(server, { listConversations: 'deny' })
      await say(server, other, uid)
      failure(await server.api.send('GET', '/conversations', as(uid)), ...denied)
      failure(await server.api.send('GET', withUser(other), as(uid)), ...denied)
      equal(data(await server.api.send('GET', '/conversations', as(other))).length, 1, 'conversations of the other')
    }),
    check('5 Permissions', 'deleteConversation: deny refuses to reset, and nothing is reset', async (server) => {
      const [other = ''] = await makeUsers(server, 1)
      const uid = await actorWith(server, { deleteConversation: 'deny' })
      const { id } = await say(server, other, uid)
      failure(await server.api.send('DELETE', withUser(other), as(uid)), ...denied)
      equal(idsIn(data(await server.api.send('GET', `/users/${other}/messages`, as(uid)))), [id], 'the messages')
    }),
    check('5, 6 Permissions', 'updateConversation: deny refuses tags and pins, not receipts', async (server) => {
      const [other = ''] = await makeUsers(server, 1)
      const uid = await actorWith(server, { updateConversation: 'deny' })
      await say(server, other, uid)
      failure(await server.api.send('PUT', withUser(other), { ...as(uid), body: { tags: ['x'] } }), ...denied)
      for (const method of ['POST', 'DELETE'] as const) {
        failure(await server.api.send(method, withUser(other, '/pin'), as(uid)), ...denied)
      }
      equal('pinnedBy' in data(await server.api.send('GET', withUser(other), as(uid))), false, 'whether it is pinned')
      for (const mark of ['/delivered', '/read']) success(await server.api.send('POST', withUser(other, mark), as(uid)))
    }),
    check('5 Tags', 'are one’s own, and replace the earlier ones', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      await say(server, a, b)
      const tag = async (tags: string[]) =>
        data(await server.api.send('PUT', withUser(b), { ...as(a), body: { tags } })).tags
      equal(await tag(['x', 'y']), ['x', 'y'], 'tags')
      equal(await tag(['z']), ['z'], 'tags after that')
      const [other] = data(await server.api.send('GET', '/conversations?withTags=true', as(b)))
      equal('tags' in other, false, 'whether the other side has tags')
    }),
    check('5 Reset', 'hides what was said from one side, until something new comes', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      await say(server, b, a)
      done(await server.api.send('DELETE', withUser(b), as(a)))
      equal(data(await server.api.send('GET', '/conversations', as(a))), [], 'the list')
      equal(data(await server.api.send('GET', `/users/${b}/messages`, as(a))), [], 'the messages')
      equal(data(await server.api.send('GET', `/users/${a}/messages`, as(b))).length, 1, 'messages of the other side')
      const fresh = await say(server, b, a)
      equal(idsIn(data(await server.api.send('GET', `/users/${b}/messages`, as(a)))), [fresh.id], 'messages after that')
      equal(data(await server.api.send('GET', withUser(b), as(a))).unreadMessageCount, '1', 'unread after that')
    }),
    check('6 Read', 'marks up to a message, and back again', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const ids: string[] = []
      while (ids.length < 4) ids.push((await say(server, b, a)).id)
      const unread = async () => data(await server.api.send('GET', withUser(b), as(a))).unreadMessageCount
      const mark = (method: 'POST' | 'DELETE', what: string, messageId?: string) =>
        server.api.send(method, withUser(b, `/${what}`), {
          ...as(a),
          body: messageId === undefined ? {} : { messageId },
        })
      equal(await unread(), '4', 'unread at first')
      equal(data(await mark('POST', 'read', ids[1])).success, true, '`success`')
      equal(await unread(), '2', 'unread after reading two')
      const read = data(await server.api.get(`/messages/${ids[1]}`))
      holds(isSeconds(read.readAt) && isSeconds(read.deliveredAt), '`readAt` and `deliveredAt` in seconds')
      success(await mark('POST', 'read'))
      equal(await unread(), '0', 'unread after reading all')
      done(await mark('DELETE', 'read', ids[0]))
      equal(await unread(), '3', 'unread after taking it back')
      failure(await mark('DELETE', 'read'), 400, 'ERR_BAD_REQUEST')
      failure(await mark('POST', 'read', '999999999999'), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
    }),
    check('13.14 Receipts', 'in a group, when all have read', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      const { guid } = await makeGroup(server, { members: { participants: [a, b, c] } })
      const { id } = await sayIn(server, guid, a)
      const read = (uid: string) =>
        server.api.send('POST', `/groups/${guid}/conversation/read`, { ...as(uid), body: {} })
      success(await read(b))
      equal('readAt' in data(await server.api.get(`/messages/${id}`)), false, 'whether all have read it')
      success(await read(c))
      holds(isSeconds(data(await server.api.get(`/messages/${id}`)).readAt), '`readAt` once all have')
      const receipts = data(await server.api.get(`/messages/${id}/receipts`))
      equal(
        receipts.map((receipt: { sender: { uid: string } }) => receipt.sender.uid).toSorted(),
        [b, c].toSorted(),
        'receipts',
      )
    }),
    check('7 Pins', 'five of one’s own, each with its first time', async (server) => {
      const [a = '', ...others] = await makeUsers(server, 7)
      const pin = (method: 'POST' | 'DELETE', uid: string) => server.api.send(method, withUser(uid, '/pin'), as(a))
      for (const uid of others.slice(0, 5)) equal(data(await pin('POST', uid)).pinnedBy, a, '`pinnedBy`')
      const [first = '', last = ''] = [others[0], others[5]]
      failure(await pin('POST', last), 400, 'ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED')
      success(await pin('POST', first))
      equal('pinnedBy' in data(await pin('DELETE', first)), false, 'whether it is still pinned')
      success(await pin('POST', last))
    }),
    check('15.2 Clients', 'list 30 of their own conversations, 50 at most', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      await say(server, b, a)
      const client = await clientOf(server, a)
      equal(success(await client.get('/conversations')).meta.pagination.per_page, 30, 'how many')
      equal(success(await client.get('/conversations?perPage=500')).meta.pagination.per_page, 50, 'how many at most')
      const permanently = { deleteMessagesPermanently: true }
      failure(await client.delete(withUser(b), permanently), 403, 'AUTH_ERR_NO_ACCESS')
      done(await client.delete(withUser(b), {}))
    }),
  ],
}
