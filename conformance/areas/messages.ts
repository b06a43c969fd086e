import { type CheckedArea, check, data, done, equal, failure, holds, isSeconds, success } from '../check.ts'
import { as, clientOf, idsIn, makeGroup, makeUsers, say, sayIn } from '../people.ts'

const toUser = (receiver: string, more: object = {}) => ({
  receiver,
  receiverType: 'user',
  data: { text: 'Hi' },
  ...more,
})

export const messages: CheckedArea = {
  name: 'messages',
  title: 'Messages',
  contract: '13',
  checks: [
    check('2 Record', 'a text between two, with its mentions and both sides inside', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const text = `For <@uid:${b}> and <@uid:nobody-at-all>`
      const message = await say(server, a, b, { data: { text, metadata: { mood: 'calm' } }, tags: ['x'], muid: 'm1' })
      equal(
        [message.sender, message.receiver, message.receiverType, message.category, message.type, message.muid],
        [a, b, 'user', 'message', 'text', 'm1'],
        'sender, receiver, kind and muid',
      )
      equal(message.conversationId, [a, b].toSorted().join('_user_'), '`conversationId`')
      holds(/^\d+$/.test(message.id), 'the id in digits')
      holds(isSeconds(message.sentAt) && message.updatedAt === message.sentAt, '`sentAt` and `updatedAt` alike')
      equal([message.data.text, message.data.metadata], [text, { mood: 'calm' }], 'text and metadata')
      equal(Object.keys(message.data.mentions), [b], 'who is mentioned')
      equal(message.data.entities.receiver.entity.conversationId, message.conversationId, 'the receiver inside')
      equal(message.tags, ['x'], 'tags')
    }),
    check('4 Send', 'without an acting user the app speaks', async (server) => {
      const [a = ''] = await makeUsers(server, 1)
      equal(data(await server.api.post('/messages', toUser(a))).sender, 'app_system', 'the sender')
    }),
    check('1 Aliases', 'send to whom the path names, whatever the body says', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      const { guid } = await makeGroup(server, { members: { participants: [a] } })
      const elsewhere = { receiver: c, receiverType: 'user', multipleReceivers: { uids: [c] }, data: { text: 'Hi' } }
      for (const [path, receiver, receiverType] of [
        [`/users/${b}/messages`, b, 'user'],
        [`/groups/${guid}/messages`, guid, 'group'],
      ] as const) {
        const sent = data(await server.api.send('POST', path, { ...as(a), body: elsewhere }))
        equal([sent.sender, sent.receiver, sent.receiverType], [a, receiver, receiverType], 'from whom and to whom')
      }
      failure(await server.api.post('/users/conf-nobody/messages', toUser(b)), 404, 'ERR_UID_NOT_FOUND')
      failure(await server.api.post('/groups/conf-nothing/messages', toUser(b)), 404, 'ERR_GUID_NOT_FOUND')
    }),
    check('2 Record', 'the app in short where it speaks, dated where it has acted', async (server) => {
      const [a = ''] = await makeUsers(server, 1)
      const sent = data(await server.api.post('/messages', toUser(a)))
      const { sender, receiver } = sent.data.entities
      equal(Object.keys(sender.entity).toSorted(), ['name', 'role', 'status', 'uid'], 'what is told of the app')
      equal('conversationId' in receiver.entity, false, 'whether the receiver has a `conversationId`')
      const edited = data(await server.api.put(`/messages/${sent.id}`, { data: { text: 'Edited' } }))
      const { entity } = edited.data.entities.by
      equal(
        [entity.uid, isSeconds(entity.createdAt)],
        ['app_system', true],
        'who has edited, and since when it is there',
      )
    }),
    check('4 Send', '`sender` in the body is ignored, and `parentMessageId` is another name', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const posing = { ...toUser(b), sender: b }
      const first = data(await server.api.send('POST', '/messages', { ...as(a), body: posing }))
      equal(first.sender, a, 'the sender')
      const client = await clientOf(server, a)
      equal(data(await client.post('/messages', posing)).sender, a, 'the sender by a client')
      const other = await say(server, a, b)
      equal((await say(server, a, b, { parentMessageId: first.id })).parentId, first.id, 'the parent')
      const both = { parentMessageId: first.id, parentId: other.id }
      equal((await say(server, a, b, both)).parentId, other.id, 'the parent where both are sent')
    }),
    check('5 Media', '`data.url` alone makes one attachment', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const at = (url: string) => ({ type: 'image', data: { url, caption: 'Look' } })
      const url = 'https://files.example.org/a/boat.png'
      const sent = await say(server, a, b, at(url))
      const file = { url, name: 'boat.png', extension: 'png', mimeType: 'image/png' }
      equal([sent.data.attachments, sent.data.url, sent.data.caption], [[file], url, 'Look'], 'the file')
      const [bare] = (await say(server, a, b, at('https://files.example.org/'))).data.attachments
      equal([bare.name, bare.mimeType], ['image', 'application/octet-stream'], 'a file without a name')
      const wrong = { ...toUser(b), ...at('boat.png') }
      failure(await server.api.post('/messages', wrong), 400, 'ERR_INVALID_MEDIA_MESSAGE')
    }),
    check('4 Send', 'to several, each answered by itself', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { guid } = await makeGroup(server, { members: { participants: [a] } })
      const multipleReceivers = { uids: [b, 'conf-nobody'], guids: [guid] }
      const body = { multipleReceivers, data: { text: 'All' } }
      const answer = data(await server.api.send('POST', '/messages', { ...as(a), body }))
      equal(
        [answer.uids[b].data.receiver, answer.uids['conf-nobody'].error.code, answer.guids[guid].success],
        [b, 'ERR_UID_NOT_FOUND', true],
        'outcomes',
      )
    }),
    ...(
      [
        ['no receiver', { receiver: '' }, 'ERR_EMPTY_RECEIVER'],
        ['an unknown type of receiver', { receiverType: 'room' }, 'ERR_INVALID_RECEIVER_TYPE'],
        ['an empty category', { category: '' }, 'ERR_EMPTY_MESSAGE_CATEGORY'],
        ['an action', { category: 'action' }, 'ERR_INVALID_MESSAGE_CATEGORY'],
        ['an empty type', { type: '' }, 'ERR_EMPTY_MESSAGE_TYPE'],
        ['an unknown type', { type: 'song' }, 'ERR_INVALID_MESSAGE_TYPE'],
        ['no text', { data: { text: '' } }, 'ERR_EMPTY_MESSAGE_TEXT'],
        ['a number for text', { data: { text: 5 } }, 'ERR_INVALID_MESSAGE_TEXT'],
        ['a list for data', { data: [] }, 'ERR_INVALID_MESSAGE_DATA'],
        ['more than 10 KB of data', { data: { text: 'x'.repeat(11_000) } }, 'ERR_INVALID_MESSAGE_DATA'],
        ['an image without a file', { type: 'image', data: {} }, 'ERR_EMPTY_MESSAGE_FILE'],
        ['custom without data', { category: 'custom', type: 'x', data: {} }, 'ERR_EMPTY_CUSTOM_DATA'],
        ['26 tags', { tags: Array.from({ length: 26 }, (_, n) => `t${n}`) }, 'ERR_BAD_REQUEST'],
      ] as const
    ).map(([what, body, code]) =>
      check('4 Send', `refuses ${what}: 400 ${code}`, async (server) => {
        const [a = ''] = await makeUsers(server, 1)
        failure(await server.api.post('/messages', { ...toUser(a), ...body }), 400, code)
      }),
    ),
    check('4 Send', 'membership and blocks are asked for', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { guid } = await makeGroup(server)
      const inGroup = { receiver: guid, receiverType: 'group', data: { text: 'x' } }
      failure(await server.api.send('POST', '/messages', { ...as(a), body: inGroup }), 403, 'ERR_GROUP_NOT_JOINED')
      success(await server.api.post(`/users/${a}/blockedusers`, { blockedUids: [b] }))
      const send = (from: string, to: string) => server.api.send('POST', '/messages', { ...as(from), body: toUser(to) })
      failure(await send(a, b), 403, 'ERR_BLOCKED_RECEIVER')
      failure(await send(b, a), 403, 'ERR_BLOCKED_SENDER')
    }),
    check('8 Edit', 'answers the action with the edited message inside', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { id } = await say(server, a, b)
      const body = { data: { text: 'Edited' } }
      const action = data(await server.api.send('PUT', `/messages/${id}`, { ...as(a), body }))
      equal([action.category, action.type, action.data.action], ['action', 'message', 'edited'], 'the action')
      const { entity } = action.data.entities.on
      equal([entity.id, entity.data.text, entity.editedBy], [id, 'Edited', a], 'the message inside')
      failure(await server.api.send('PUT', `/messages/${id}`, { ...as(b), body }), 403, 'ERR_MESSAGE_NOT_A_SENDER')
      failure(await server.api.send('PUT', `/messages/${action.id}`, { body }), 403, 'ERR_MESSAGE_ACTION_NOT_ALLOWED')
    }),
    check('8 Delete', 'takes the content, and for good the message', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      const { id } = await say(server, a, b)
      failure(await server.api.send('DELETE', `/messages/${id}`, as(c)), 403, 'ERR_MESSAGE_NO_ACCESS')
      equal(data(await server.api.send('DELETE', `/messages/${id}`, as(a))).data.action, 'deleted', 'the action')
      const left = data(await server.api.get(`/messages/${id}`))
      equal([left.deletedBy, Object.keys(left.data)], [a, ['entities']], 'what is left')
      success(await server.api.delete(`/messages/${id}`, { permanent: true }))
      failure(await server.api.get(`/messages/${id}`), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
    }),
    check('8 Delete', 'for good answers the message as it was, under a number of its own', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const whole = { data: { text: 'Gone', metadata: { mood: 'calm' } }, tags: ['x'] }
      const sent = await say(server, a, b, whole)
      const action = data(await server.api.delete(`/messages/${sent.id}`, { permanent: true }))
      const { by, on, for: where } = action.data.entities
      const { id, data: said, tags } = on.entity
      equal([id, said.text, said.metadata, tags], [sent.id, 'Gone', { mood: 'calm' }, ['x']], 'the message inside')
      equal(['deletedAt' in on.entity, 'deletedBy' in on.entity], [false, false], 'whether it tells of its deletion')
      equal([by.entity.uid, where.entity.uid], ['app_system', b], 'who did it, and to whom it was said')
      holds(Number(action.id) > Number(sent.id), 'a fresh id of the action')
      failure(await server.api.get(`/messages/${action.id}`), 404, 'ERR_MESSAGE_ID_NOT_FOUND')
    }),
    check('9 List', 'a hundred at a time; what asks about nobody is passed over', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { guid } = await makeGroup(server, { members: { participants: [a, b] } })
      const { id } = await say(server, a, b)
      await sayIn(server, guid, a)
      for (const path of ['/messages', `/users/${b}/messages`, `/groups/${guid}/messages`]) {
        const { meta } = success(await server.api.send('GET', path, as(a)))
        equal(meta.current.limit, 100, `the limit of ${path}`)
        for (const asked of ['count=true&unread=true', 'unread=true', 'undelivered=true', 'myMentionsOnly=true']) {
          const all = success(await server.api.get(`${path}?affix=prepend&${asked}`)).data
          holds(Array.isArray(all) && all.length > 0 && typeof all[0].conversationId === 'string', 'messages')
        }
      }
      const { meta } = success(await server.api.get(`/users/${b}/messages`))
      equal(meta.cursor, { id: Number(id), affix: 'prepend' }, '`meta.cursor` of pages')
    }),
    check('9 List', 'tells both ways on every page, also where nothing is', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const read = async (search = '') => success(await server.api.send('GET', `/users/${b}/messages${search}`, as(a)))
      const empty = await read()
      equal(empty.data, [], 'the messages')
      equal([empty.meta.next.affix, empty.meta.previous.affix], ['append', 'prepend'], 'both ways')
      holds(isSeconds(empty.meta.next.sentAt) && !('id' in empty.meta.next), '`sentAt` and no `id`')
      const { id, sentAt } = await say(server, b, a)
      equal(idsIn((await read(`?affix=append&sentAt=${empty.meta.next.sentAt}`)).data), [id], 'what came meanwhile')
      const full = await read()
      equal(full.meta.next, { affix: 'append', sentAt, id }, '`next`')
      equal(full.meta.previous, { affix: 'prepend', sentAt, id }, '`previous`')
      const end = await read(`?affix=append&id=${id}&sentAt=${sentAt}`)
      equal([end.data, end.meta.next, end.meta.previous], [[], full.meta.next, full.meta.previous], 'the end')
    }),
    check('9 List', 'a client that does not say where gets the newest', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const ids: string[] = []
      while (ids.length < 3) ids.push((await say(server, b, a)).id)
      const client = await clientOf(server, a)
      const read = async (search: string) => idsIn(data(await client.get(`/users/${b}/messages?limit=2${search}`)))
      equal([await read(''), await read('&affix=append')], [ids.slice(1), ids.slice(0, 2)], 'the newest, the oldest')
    }),
    check('9 List', 'so does a client that reads a group, or everything', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { guid } = await makeGroup(server, { members: { participants: [a, b] } })
      const ids: string[] = []
      while (ids.length < 3) ids.push((await sayIn(server, guid, b)).id)
      const client = await clientOf(server, a)
      for (const path of [`/groups/${guid}/messages`, '/messages']) {
        const read = async (search: string) => idsIn(data(await client.get(`${path}?limit=2${search}`)))
        equal(await read(''), ids.slice(1), `the newest of ${path}`)
        holds(!(await read('&affix=append')).includes(ids[2] ?? ''), `the oldest of ${path} where they are asked for`)
      }
    }),
    check('9 List', 'reads on and back in the order of ids', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const ids: string[] = []
      while (ids.length < 5) ids.push((await say(server, a, b)).id)
      const list = async (search: string) =>
        success(await server.api.send('GET', `/users/${b}/messages${search}`, as(a)))
      const first = await list('?limit=2')
      equal(idsIn(first.data), ids.slice(0, 2), 'the first two')
      equal([first.meta.current, first.meta.next.id], [{ limit: 2, count: 2 }, ids[1]], '`meta`')
      equal(idsIn((await list(`?limit=2&affix=append&id=${ids[1]}`)).data), ids.slice(2, 4), 'the next two')
      equal(idsIn((await list('?limit=2&affix=prepend')).data), ids.slice(3), 'the last two')
      equal((await list('?limit=10&affix=append')).meta.next.id, ids[4], 'where the last page is read on')
      equal((await list(`?limit=10&affix=append&id=${ids[4]}`)).meta.current.count, 0, 'how many follow the last')
      const { meta } = success(await server.api.get(`/users/${a}/messages?perPage=2`))
      equal([meta.pagination.total, meta.pagination.per_page], [5, 2], 'pages without an acting user')
    }),
    check('9 List', 'filters by words, sender, type, tags and deletion', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const words = await say(server, a, b, { data: { text: 'Köln harbour' } })
      const tagged = await say(server, b, a, { tags: ['conf'] })
      const place = await say(server, a, b, { category: 'custom', type: 'place', data: { customData: { n: 1 } } })
      const gone = await say(server, a, b)
      const { id: action } = data(await server.api.delete(`/messages/${gone.id}`))
      const found = async (search: string) =>
        idsIn(data(await server.api.send('GET', `/messages?limit=50&${search}`, as(a))))
      equal(await found('searchKey=HARBOUR'), [words.id], 'by a word')
      equal(await found('tags=conf,other'), [tagged.id], 'by tag')
      equal(await found(`sender=${b}`), [tagged.id], 'by sender')
      equal(await found('types=place'), [place.id], 'by type')
      equal(await found('category=action'), [action], 'actions')
      equal(await found('onlyDeleted=true'), [gone.id], 'the deleted')
      equal(await found('hideDeleted=true'), [words.id, tagged.id, place.id, action], 'the others')
    }),
    check('10 Threads', 'replies count on the message, and begin no thread', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const parent = await say(server, a, b)
      const send = (id: string, uid: string) =>
        server.api.send('POST', `/messages/${id}/thread`, { ...as(uid), body: { data: { text: 'Reply' } } })
      const reply = data(await send(parent.id, b))
      equal([reply.parentId, reply.receiver], [parent.id, a], 'parent and receiver')
      equal(data(await server.api.get(`/messages/${parent.id}`)).replyCount, 1, '`replyCount`')
      equal(idsIn(data(await server.api.get(`/messages/${parent.id}/thread`))), [reply.id], 'the replies')
      failure(await send(reply.id, a), 400, 'ERR_MESSAGE_THREAD_NESTING')
      const threads = data(await server.api.send('GET', '/threads?participatedByMe=true', as(b)))
      equal([idsIn(threads), threads[0].lastReply.id], [[parent.id], reply.id], 'threads followed')
      const subscription = `/messages/${parent.id}/thread/subscription`
      equal(data(await server.api.send('DELETE', subscription, as(b))), { success: true }, 'the answer')
      equal(data(await server.api.send('GET', '/threads?participatedByMe=true', as(b))), [], 'threads after that')
    }),
    check('10 Threads', 'the app replies in groups and to itself, not between two', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { guid } = await makeGroup(server, { members: { participants: [a] } })
      const body = { data: { text: 'Reply' } }
      const toApp = data(await server.api.post('/messages', toUser(a)))
      for (const { id } of [await sayIn(server, guid, a), toApp]) {
        const reply = data(await server.api.post(`/messages/${id}/thread`, body))
        equal([reply.sender, reply.parentId], ['app_system', id], 'who replies, and to what')
        const { meta } = success(await server.api.get(`/messages/${id}/thread`))
        equal([meta.current.limit, meta.next.id, meta.previous.id], [100, reply.id, reply.id], '`meta` of the replies')
      }
      const { id } = await say(server, a, b)
      failure(await server.api.post(`/messages/${id}/thread`, body), 400, 'ERR_BAD_REQUEST', 'onBehalfOf')
      const withParent = { ...toUser(b), parentId: id }
      failure(await server.api.post('/messages', withParent), 400, 'ERR_BAD_REQUEST', 'onBehalfOf')
    }),
    check('10, 11, 14 Cursors', 'are there on every page of threads, reactions and receipts', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const threads = success(await server.api.send('GET', '/threads', as(a))).meta
      equal(threads.current, { limit: 100, count: 0 }, '`meta.current` of no threads')
      equal([threads.next.affix, threads.previous.affix], ['append', 'prepend'], 'both ways where no threads are')
      holds(isSeconds(threads.next.updatedAt), '`updatedAt` of no threads in seconds')
      const { id } = await say(server, a, b)
      for (const what of ['reactions', 'receipts']) {
        const { data: none, meta } = success(await server.api.get(`/messages/${id}/${what}`))
        equal([none, meta.next, meta.previous], [[], { affix: 'append' }, { affix: 'prepend' }], `no ${what}`)
        equal(meta.current.limit, 100, `the limit of ${what}`)
      }
      success(await server.api.send('POST', `/messages/${id}/reactions/yes`, as(b)))
      const { meta } = success(await server.api.get(`/messages/${id}/reactions`))
      equal([meta.next.affix, meta.previous.affix], ['append', 'prepend'], 'both ways')
      equal(String(meta.next.id), String(meta.previous.id), 'the only reaction')
    }),
    check('11 Reactions', 'are counted on the message, listed, and taken back', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { id } = await say(server, a, b)
      const path = `/messages/${id}/reactions/${encodeURIComponent('🚣')}`
      for (let n = 0; n < 2; n += 1) {
        const { reactions } = data(await server.api.send('POST', path, as(b))).data
        equal(reactions, [{ reaction: '🚣', count: 1, reactedByMe: true }], 'reactions')
      }
      const [listed] = data(await server.api.get(`/messages/${id}/reactions`))
      equal([listed.messageId, listed.reaction, listed.uid, listed.reactedBy.uid], [id, '🚣', b, b], 'the reaction')
      equal('reactions' in data(await server.api.send('DELETE', path, as(b))).data, false, 'reactions left')
      const long = `/messages/${id}/reactions/${'x'.repeat(46)}`
      failure(await server.api.send('POST', long, as(b)), 400, 'ERR_BAD_REQUEST')
    }),
    check('12 Interactions', 'are kept for each user', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const interactiveData = { cardActions: [{ elementType: 'button', elementId: 'yes', buttonText: 'Yes' }] }
      const { id } = await say(server, a, b, { category: 'interactive', type: 'card', data: { interactiveData } })
      const interact = (uid: string, interactions: string[]) =>
        server.api.send('PATCH', `/messages/${id}/interacted`, { ...as(uid), body: { interactions } })
      done(await interact(b, ['yes']))
      const seen = data(await server.api.send('GET', `/messages/${id}`, as(b)))
      equal(seen.data.interactions[0].elementId, 'yes', 'the element')
      failure(await interact(b, ['none-such']), 400, 'ERR_BAD_REQUEST')
      failure(await interact(a, ['yes']), 403, 'ERR_MESSAGE_ACTION_NOT_ALLOWED')
    }),
    check('12 Interactions', 'are kept by the other path as well', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const interactiveData = { cardActions: [{ elementType: 'button', elementId: 'yes', buttonText: 'Yes' }] }
      const { id } = await say(server, a, b, { category: 'interactive', type: 'card', data: { interactiveData } })
      done(await server.api.send('POST', `/messages/${id}/interactions`, { ...as(b), body: { interactions: ['yes'] } }))
      const [kept] = data(await server.api.send('GET', `/messages/${id}`, as(b))).data.interactions
      equal([kept.elementId, isSeconds(kept.interactedAt)], ['yes', true], 'the element, and since when')
    }),
    check('12 Interactions', 'by the other path as well, where without any the message is read', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const { id } = await say(server, a, b)
      const last = await say(server, a, b)
      const unread = async () =>
        data(await server.api.send('GET', `/users/${a}/conversation`, as(b))).unreadMessageCount
      done(await server.api.send('POST', `/messages/${id}/interactions`, as(b)))
      equal(await unread(), '1', 'unread after the first')
      done(await server.api.send('POST', `/messages/${last.id}/interactions`, { ...as(b), body: {} }))
      equal(await unread(), '0', 'unread after the last')
      const named = { ...as(b), body: { interactions: ['x'] } }
      failure(await server.api.send('POST', `/messages/${id}/interactions`, named), 400, 'ERR_BAD_REQUEST')
    }),
    check('13 Pins', 'show to all, saves to oneself', async (server) => {
      const [a = '', b = '', c = ''] = await makeUsers(server, 3)
      const { guid } = await makeGroup(server, { members: { participants: [b] } }, as(a))
      const { id } = await sayIn(server, guid, b)
      const ask = (method: 'POST' | 'DELETE', what: string, uid: string) =>
        server.api.send(method, `/messages/${id}/${what}`, as(uid))
      failure(await ask('POST', 'pin', b), 403, 'ERR_PERMISSION_DENIED')
      failure(await ask('POST', 'pin', c), 403, 'ERR_MESSAGE_NO_ACCESS')
      equal(data(await ask('POST', 'pin', a)).pinnedBy, a, '`pinnedBy`')
      equal('pinnedBy' in data(await ask('DELETE', 'pin', a)), false, 'whether it is still pinned')
      holds(isSeconds(data(await ask('POST', 'save', b)).savedAt), '`savedAt` in seconds')
      equal('savedAt' in data(await server.api.send('GET', `/messages/${id}`, as(a))), false, 'whether others see it')
      equal(idsIn(data(await server.api.send('GET', '/messages?saved=true', as(b)))), [id], 'what is saved')
    }),
    check('15.2 Clients', 'send and read, 100 at a time, and delete nothing for good', async (server) => {
      const [a = '', b = ''] = await makeUsers(server, 2)
      const client = await clientOf(server, a)
      const { id, sender } = data(await client.post('/messages', toUser(b)))
      equal(sender, a, 'the sender')
      equal(success(await client.get('/messages?limit=1000')).meta.current.limit, 100, 'the limit')
      failure(await client.delete(`/messages/${id}`, { permanent: true }), 403, 'AUTH_ERR_NO_ACCESS')
      success(await client.delete(`/messages/${id}`))
    }),
  ],
}
