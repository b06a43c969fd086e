import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { thorough } from '../../../../tests/support/quick.ts'
import { randomFrom, seedFrom } from '../../../../tests/support/random.ts'
import { appWith, as, clientOf, idsIn, say, sayIn } from '../../../../tests/support/talk.ts'

const file = (name: string, mimeType: string) => ({
  url: `https://files.example.org/${name}`,
  name,
  mimeType,
  extension: name.split('.')[1] ?? '',
})

/** Messages by a name of their own; those that stand in a group, and all others, which Lin and Ada said to each other. */
const inGroup = ['grouped', 'groupLink', 'fromBlocked']

for (const database of databases) {
  describe(`lists of messages on ${database}`, () => {
    let h: House
    before(async () => {
      h = await house({ database })
    })
    after(() => h.close())

    const later = (seconds = 10) => h.clock.setOffset(h.clock.offsetSeconds() + seconds)

    it('takes up to a hundred words of one kind', async () => {
      const app = await appWith(h, 'ada', 'lin')
      const { id } = await say(app, 'ada', 'lin')
      const senders = (count: number) => ['ada', ...Array.from({ length: count - 1 }, (_, n) => `u${n}`)].join()
      for (const path of ['/messages', '/users/lin/messages']) {
        const { data } = assertSucceeds(await app.get(`${path}?senders=${senders(100)}`, as('ada')))
        assert.deepEqual(
          data.map((message: { id: string }) => message.id),
          [id],
        )
        const refused = await app.get(`${path}?senders=${senders(101)}`, as('ada'))
        assertFails(refused, 400, 'ERR_BAD_REQUEST')
        assert.deepEqual(refused.body.error.details, { senders: ['must not have more than 100 entries'] })
      }
    })

    describe('filters', () => {
      let app: AppClient
      const ids: Record<string, string> = {}
      const times: Record<string, number> = {}

      before(async () => {
        app = await appWith(h, 'ada', 'lin', 'max', 'bad')
        assertSucceeds(await app.put('/users/max', { name: 'Maximilian', tags: ['vip'] }))
        assertSucceeds(await app.post('/groups', { guid: 'crew', name: 'Crew' }))
        assertSucceeds(await app.post('/groups/crew/members', { participants: ['ada', 'lin', 'max', 'bad'] }))
        assertSucceeds(await app.post('/users/ada/blockedusers', { blockedUids: ['bad'] }))
        const keep = async (name: string, sending: Promise<{ id: string; sentAt: number }>) => {
          const { id, sentAt } = await sending
          ids[name] = id
          times[name] = sentAt
          later()
          return id
        }
        const direct = (text: string, more: object = {}) => say(app, 'lin', 'ada', text, more)
        const media = (type: string, attachment: object) =>
          direct('', { type, data: { attachments: [attachment], text: 'Caption' } })
        later()
        const plain = await keep('plain', direct('Plain wörds'))
        await keep('link', direct('see https://example.org'))
        await keep('toAda', direct('for <@uid:ada>'))
        await keep('toMax', direct('for <@uid:max>'))
        await keep('image', media('image', file('Holiday.png', 'image/png')))
        await keep('file', media('file', file('notes.pdf', 'application/pdf')))
        await keep('custom', direct('', { category: 'custom', type: 'place', data: { customData: { dock: 4 } } }))
        await keep('tagged', direct('t', { tags: ['red', 'blue'] }))
        await keep('quoting', direct('q', { quotedMessageId: plain }))
        await keep('reply', direct('r', { parentId: plain }))
        const reacted = await keep('reacted', direct('x'))
        assertSucceeds(
          await app.post(`/messages/${reacted}/reactions/👍`.replace('👍', '%F0%9F%91%8D'), undefined, as('ada')),
        )
        const edited = await keep('edited', direct('first version'))
        const deleted = await keep('deleted', direct('to be deleted'))
        await keep('mine', say(app, 'ada', 'lin', 'my own'))
        const pinned = await keep('pinned', direct('p'))
        assertSucceeds(await app.post(`/messages/${pinned}/pin`, undefined, as('ada')))
        const saved = await keep('saved', direct('s'))
        assertSucceeds(await app.post(`/messages/${saved}/save`, undefined, as('ada')))
        await keep('grouped', sayIn(app, 'crew', 'max', 'to all'))
        await keep('groupLink', sayIn(app, 'crew', 'lin', 'www.example.org <@uid:ada>'))
        await keep('fromBlocked', sayIn(app, 'crew', 'bad', 'noise'))
        await keep('foreign', say(app, 'lin', 'max', 'not for Ada'))
        const changing = async (sending: Promise<{ body: { data: { id: string; sentAt: number } } }>) =>
          (await sending).body.data
        await keep('editing', changing(app.put(`/messages/${edited}`, { data: { text: 'second' } }, as('lin'))))
        await keep('deleting', changing(app.delete(`/messages/${deleted}`, undefined, as('lin'))))
      })

      const namesIn = (list: { id: string }[]) => {
        const known = new Map(Object.entries(ids).map(([name, id]) => [id, name]))
        return idsIn(list).flatMap((id) => known.get(id) ?? [])
      }
      const found = async (path: string, search: string, uid?: string) => {
        const headers = uid === undefined ? undefined : as(uid)
        return namesIn(assertSucceeds(await app.get(`${path}?limit=1000&${search}`, headers)).data)
      }

      const everything = [
        ...['plain', 'link', 'toAda', 'toMax', 'image', 'file', 'custom', 'tagged', 'quoting', 'reply', 'reacted'],
        ...['edited', 'deleted', 'mine', 'pinned', 'saved', ...inGroup, 'editing', 'deleting'],
      ]
      const except = (...names: string[]) => everything.filter((name) => !names.includes(name))
      const from = (name: string) => everything.slice(everything.indexOf(name))
      const upTo = (name: string) => everything.slice(0, everything.indexOf(name) + 1)

      // Who answers has read what was said before: Ada answered once, and Lin went on after that.
      const changed = upTo('mine')

      /** What is asked, what Ada finds everywhere, and what else the app finds. */
      const cases: [() => string, string[], string[]?][] = [
        [() => '', everything, ['foreign']],
        [() => 'category=custom', ['custom'], []],
        [() => 'category=action', ['editing', 'deleting'], []],
        [() => 'categories=custom,action', ['custom', 'editing', 'deleting'], []],
        [() => 'category=nonsense', [], []],
        [() => 'type=image', ['image'], []],
        [() => 'types=image,file', ['image', 'file'], []],
        [() => 'type=place&category=message', [], []],
        [() => 'searchKey=WORDS', ['plain'], []],
        [() => 'searchKey=plain%20words', ['plain'], []],
        [() => 'searchKey=words%20absent', [], []],
        [() => 'searchKey=holiday', ['image'], []],
        [() => 'searchKey=application/pdf', ['file'], []],
        [() => 'searchKey=maximilian', ['toMax'], []],
        [() => 'searchKey=first', [], []],
        [() => 'searchKey=second', ['edited'], []],
        [() => 'searchKey=deleted', [], []],
        [() => 'hasAttachments=true', ['image', 'file'], []],
        [() => 'hasAttachments=false', except('image', 'file'), ['foreign']],
        [() => 'attachmentTypes=image', ['image'], []],
        [() => 'attachmentTypes=image,file', ['image', 'file'], []],
        [() => 'attachmentTypes=audio', [], []],
        [() => 'hasMentions=true', ['toAda', 'toMax', 'groupLink'], []],
        [() => 'hasMentions=false', except('toAda', 'toMax', 'groupLink'), ['foreign']],
        [() => 'mentionedUids=MAX', ['toMax'], []],
        [() => 'mentionedUids=max,ada', ['toAda', 'toMax', 'groupLink'], []],
        [() => 'hasLinks=true', ['link', 'groupLink'], []],
        [() => 'hasLinks=false', except('link', 'groupLink'), ['foreign']],
        [() => 'hasReactions=true', ['reacted'], []],
        [() => 'sender=max', ['grouped'], []],
        [() => 'senders=max,bad', ['grouped', 'fromBlocked'], []],
        [() => 'sender=ada', ['mine'], []],
        [() => 'receiverType=group', inGroup, []],
        [() => 'receiverType=user', except(...inGroup), ['foreign']],
        [() => 'receiverType=moon', [], []],
        [() => 'tags=red', ['tagged'], []],
        [() => 'tags=green,blue', ['tagged'], []],
        [() => 'tags=green', [], []],
        [() => 'hideDeleted=true', except('deleted'), ['foreign']],
        [() => 'onlyDeleted=true', ['deleted'], []],
        [() => 'hideReplies=true', except('reply'), ['foreign']],
        [() => 'hideMessagesFromBlockedUsers=false', everything, ['foreign']],
        [() => 'pinned=true', ['pinned'], []],
        [() => `fromTimestamp=${times.saved}`, from('saved'), ['foreign']],
        [() => `fromTimestamp=${times.link}&toTimestamp=${times.toMax}`, ['link', 'toAda', 'toMax'], []],
        [() => `toTimestamp=${times.link}`, everything, ['foreign']],
        [() => `sentAt[from]=${times.saved}`, from('saved'), ['foreign']],
        [() => `sentAt[to]=${times.link}`, upTo('link'), []],
        [() => `sentAt[from]=${times.link}&sentAt[to]=${times.link}`, ['link'], []],
        [() => 'updatedAt[from]=1', changed, []],
        [() => 'onlyUpdates=true', changed, []],
        [() => `updatedAt[from]=${times.editing}`, ['edited', 'deleted'], []],
        [() => `updatedAt[to]=${times.editing}`, changed.filter((name) => name !== 'deleted'), []],
        [() => 'editedAt[from]=1', ['edited'], []],
        [() => 'editedAt[to]=1', [], []],
        [() => `editedAt[from]=${times.editing}&editedAt[to]=${times.editing}`, ['edited'], []],
        [() => `updatedAt=${times.foreign}`, ['edited', 'deleted', 'editing', 'deleting'], []],
        [() => `updatedAt=${times.foreign}&onlyUpdates=true`, ['edited', 'deleted'], []],
        [() => `id=${ids.saved}`, from('grouped'), ['foreign']],
        [() => `id=${ids.link}&affix=prepend`, ['plain'], []],
        [() => `sentAt=${times.saved}`, from('grouped'), ['foreign']],
        [() => `sentAt=${times.link}&affix=prepend`, ['plain'], []],
        [() => 'affix=sideways', [], []],
        [() => 'conversationId=group_crew', inGroup, []],
        [() => 'conversationId=ada_user_lin', except(...inGroup), []],
        [() => 'category=message&hasLinks=true&sender=lin&receiverType=user', ['link'], []],
      ]
      it('find what they ask for and nothing else, in all lists alike', async () => {
        for (const [search, expected, ofApp = []] of cases) {
          const asked = search()
          const byPlace = (group: boolean) => expected.filter((name) => inGroup.includes(name) === group)
          assert.deepEqual(await found('/messages', asked, 'ada'), expected, `/messages ${asked}`)
          assert.deepEqual(await found('/users/lin/messages', asked, 'ada'), byPlace(false), `of Lin ${asked}`)
          assert.deepEqual(await found('/groups/crew/messages', asked, 'ada'), byPlace(true), `of the crew ${asked}`)
          assert.deepEqual(await found('/groups/crew/messages', asked), byPlace(true), `of the crew, app ${asked}`)
          const all = [...new Set([...expected, ...ofApp])].toSorted()
          assert.deepEqual((await found('/messages', asked)).toSorted(), all, `of the app ${asked}`)
        }
      })

      const namesOfFilters = (asked: string) => [...new URLSearchParams(asked).keys()]
      const cursors = ['id', 'sentAt', 'affix']

      /** One list: what it answers to a question. */
      const lists: [string, (asked: string) => Promise<string[]>][] = [
        ['of Ada', (asked) => found('/messages', asked, 'ada')],
        ['of the app', (asked) => found('/messages', asked)],
        ['of Ada with Lin', (asked) => found('/users/lin/messages', asked, 'ada')],
        ['of Lin, in pages', (asked) => found('/users/lin/messages', `perPage=1000&${asked}`)],
        ['of the crew', (asked) => found('/groups/crew/messages', asked, 'ada')],
      ]

      it('combine with a search: what both find, and nothing else', thorough, async () => {
        const questions = cases.map(([search]) => search()).filter((asked) => !asked.includes('searchKey'))
        for (const [at, asked] of questions.entries()) {
          const list = lists[at % lists.length]
          const isPaged = list?.[0].includes('pages') && namesOfFilters(asked).some((name) => cursors.includes(name))
          for (const [name, ask] of [lists[0], isPaged ? undefined : list].filter((each) => each !== undefined)) {
            const ofKey = new Set(await ask('searchKey=E'))
            const both = (await ask(asked)).filter((each) => ofKey.has(each))
            assert.deepEqual(await ask(`${asked}&searchKey=E`), both, `${name}: ${asked} and a search`)
          }
        }
      })

      it('combine with each other: what both find, and nothing else', thorough, async () => {
        const seed = seedFrom('FILTER_SEED')
        const { pick } = randomFrom(seed)
        const questions = cases.map(([search]) => search()).filter((asked) => !asked.includes('imestamp'))
        for (let round = 0; round < 60; round += 1) {
          const [one, other] = [pick(questions), pick(questions)]
          const [list, ask] = pick(lists)
          const names = [...namesOfFilters(one), ...namesOfFilters(other)]
          // The same name twice, or two cursors, would ask another question.
          if (new Set(names).size < names.length || names.some((name) => cursors.includes(name))) continue
          // One of several and several of one kind are one question, too.
          if (
            ['categor', 'type', 'sender', 'updatedAt'].some((part) => names.filter((n) => n.includes(part)).length > 1)
          )
            continue
          const ofOther = new Set(await ask(other))
          const both = (await ask(one)).filter((name) => ofOther.has(name))
          assert.deepEqual(await ask(`${one}&${other}`), both, `${list}: ${one} and ${other}, FILTER_SEED=${seed}`)
        }
      })

      it('are asked in every spelling', async () => {
        for (const yes of ['true', 'TRUE', 'True', '1']) {
          assert.deepEqual(await found('/messages', `hasLinks=${yes}`, 'ada'), ['link', 'groupLink'])
        }
        for (const no of ['false', 'FALSE', '0', '']) {
          assert.deepEqual(await found('/messages', `pinned=${no}`, 'ada'), everything)
        }
        const several: [string, string[], string[]][] = [
          ['categories', ['custom', 'action'], ['custom', 'editing', 'deleting']],
          ['types', ['image', 'place'], ['image', 'custom']],
          ['senders', ['MAX', 'bad'], ['grouped', 'fromBlocked']],
          ['tags', ['red', 'green'], ['tagged']],
          ['mentionedUids', ['max', 'ada'], ['toAda', 'toMax', 'groupLink']],
          ['attachmentTypes', ['image', 'file'], ['image', 'file']],
        ]
        for (const [name, [a, b], expected] of several) {
          for (const asked of [
            `${name}=${a},${b}`,
            `${name}=${a}&${name}=${b}`,
            `${name}[]=${a}&${name}[]=${b}`,
            `${name}[0]=${a}&${name}[1]=${b}`,
            `${name}%5B%5D=${a}&${name}%5B%5D=${b}`,
          ]) {
            assert.deepEqual(await found('/messages', asked, 'ada'), expected, asked)
          }
        }
        assert.deepEqual(await found('/messages', `sentAt%5Bfrom%5D=${times.saved}`, 'ada'), from('saved'))
      })

      it('say what is wrong with a value', async () => {
        for (const [asked, name] of [
          ['limit=0', 'limit'],
          ['limit=ten', 'limit'],
          ['id=-1', 'id'],
          ['id=abc', 'id'],
          ['id=99999999999999999999', 'id'],
          ['sentAt=now', 'sentAt'],
          ['sentAt[from]=1.5', 'sentAt[from]'],
          ['updatedAt[to]=x', 'updatedAt[to]'],
          ['searchKey=%00', 'searchKey'],
        ] as const) {
          for (const path of ['/messages', '/users/lin/messages', '/groups/crew/messages']) {
            const answer = await app.get(`${path}?${asked}`, as('ada'))
            assertFails(answer, 400, 'ERR_BAD_REQUEST')
            assert.deepEqual(Object.keys(answer.body.error.details), [name], asked)
          }
        }
        for (const asked of ['perPage=0', 'page=0', 'page=x']) {
          assertFails(await app.get(`/users/lin/messages?${asked}`), 400, 'ERR_BAD_REQUEST')
        }
      })

      it('take a cursor that names no message as a position', async () => {
        const gone = String(Number(ids.editing) + 1_000_000)
        assert.deepEqual(await found('/messages', `id=${gone}&affix=prepend`, 'ada'), everything)
        assert.deepEqual(await found('/messages', `id=${gone}`, 'ada'), [])
        assert.deepEqual(await found('/messages', 'id=0', 'ada'), everything)
      })

      it('see every change that the record tells of, when it tells', async () => {
        const { data } = assertSucceeds(await app.get('/messages?limit=1000', as('ada')))
        const moments = [...new Set(data.map(({ updatedAt }: { updatedAt: number }) => updatedAt))] as number[]
        for (const at of moments) {
          const expected = data.filter((message: { id: string; updatedAt: number }) => message.updatedAt >= at)
          const names = namesIn(expected).filter((name) => changed.includes(name))
          assert.deepEqual(await found('/messages', `updatedAt[from]=${at}`, 'ada'), names, `from ${at}`)
        }
        const { id, sentAt, conversationId } = await say(app, 'lin', 'max', 'at once')
        assertSucceeds(await app.put(`/messages/${id}`, { data: { text: 'changed' } }))
        const since = `conversationId=${conversationId}&updatedAt[from]=${sentAt}`
        assert.deepEqual(idsIn(assertSucceeds(await app.get(`/messages?${since}`)).data), [id])
      })

      const ofViewer: [string, string[]][] = [
        ['myMentionsOnly=true', ['toAda', 'groupLink']],
        ['hideMessagesFromBlockedUsers=true', except('fromBlocked')],
        ['saved=true', ['saved']],
      ]
      it('find what is the acting user’s own affair', async () => {
        for (const [asked, expected] of ofViewer) {
          const byPlace = (group: boolean) => expected.filter((name) => inGroup.includes(name) === group)
          assert.deepEqual(await found('/messages', asked, 'ada'), expected, asked)
          assert.deepEqual(await found('/users/lin/messages', asked, 'ada'), byPlace(false), asked)
          assert.deepEqual(await found('/groups/crew/messages', asked, 'ada'), byPlace(true), asked)
        }
        for (const path of ['/messages', '/users/lin/messages', '/groups/crew/messages']) {
          const answer = await app.get(`${path}?saved=true`)
          assertFails(answer, 400, 'ERR_BAD_REQUEST')
          assert.deepEqual(Object.keys(answer.body.error.details), ['saved'])
        }
      })

      it('pass over what is asked about the acting user where there is none', async () => {
        for (const path of ['/messages', '/users/lin/messages', '/groups/crew/messages']) {
          const all = assertSucceeds(await app.get(path))
          for (const asked of ['myMentionsOnly=true', 'unread=true', 'undelivered=true', 'count=true&unread=true']) {
            const { data, meta } = assertSucceeds(await app.get(`${path}?${asked}`))
            assert.deepEqual([idsIn(data), Object.keys(meta)], [idsIn(all.data), Object.keys(all.meta)], asked)
          }
        }
      })

      it('find one conversation, and nothing of what is not one’s own', async () => {
        const direct = except(...inGroup)
        assert.deepEqual(await found('/messages', 'conversationId=ada_user_lin', 'ada'), direct)
        assert.deepEqual(await found('/messages', 'conversationId=ada_user_lin'), direct)
        assert.deepEqual(await found('/messages', 'conversationId=ada_user_lin', 'max'), [])
        assert.deepEqual(await found('/messages', 'conversationId=group_crew', 'ada'), inGroup)
        assert.deepEqual(await found('/messages', 'conversationId=none', 'ada'), [])
      })

      it('find in pages what a user has sent and received', async () => {
        const read = async (search: string) => assertSucceeds(await app.get(`/users/lin/messages?${search}`))
        const { data, meta } = await read('perPage=1000')
        assert.deepEqual(namesIn(data).toSorted(), [...except(...inGroup), 'foreign'].toSorted())
        assert.deepEqual(meta.cursor, { id: Number(data[0].id), affix: 'prepend' })
        assert.equal(meta.pagination.total, data.length)
        const page = await read('perPage=5&page=2')
        assert.deepEqual(idsIn(page.data), idsIn(data).slice(5, 10))
        assert.deepEqual(namesIn((await read('searchKey=holiday')).data), ['image'])
        assert.deepEqual(namesIn((await read('tags=red')).data), ['tagged'])
        assert.equal('cursor' in (await read('tags=none')).meta, false)
      })

      it('show tags, parents, quotes and more about the mentioned where that is asked for', async () => {
        const one = async (name: string, search: string) => {
          const { data } = assertSucceeds(await app.get(`/users/lin/messages?limit=1000&${search}`, as('ada')))
          return data.find(({ id }: { id: string }) => id === ids[name])
        }
        assert.equal('tags' in (await one('tagged', '')), false)
        assert.deepEqual((await one('tagged', 'withTags=true')).tags, ['red', 'blue'])
        assert.equal('parent' in (await one('reply', '')), false)
        assert.equal((await one('reply', 'withParent=true')).parent.id, ids.plain)
        assert.equal((await one('quoting', '')).quotedMessage.id, ids.plain)
        const bare = await one('quoting', 'hideQuotedMessages=true')
        assert.deepEqual([bare.quotedMessageId, 'quotedMessage' in bare], [ids.plain, false])
        const mentioned = async (search: string) => (await one('toMax', search)).data.mentions.max
        assert.equal('tags' in (await mentioned('')), false)
        for (const spelling of ['mentionsWithTagInfo', 'mentionswithTagInfo']) {
          assert.deepEqual((await mentioned(`${spelling}=true`)).tags, ['vip'])
        }
        const { blockedByMe, hasBlockedMe } = await mentioned('mentionsWithBlockedInfo=true')
        assert.deepEqual([blockedByMe, hasBlockedMe], [false, false])
      })

      it('hold up to a thousand, or a hundred for clients', async () => {
        const limit = async (search: string) => assertSucceeds(await app.get(`/messages${search}`)).meta.current.limit
        assert.deepEqual([await limit(''), await limit('?limit=5000')], [100, 1000])
        const client = await clientOf(h, app, 'ada')
        assert.equal(assertSucceeds(await client.get('/messages?limit=5000')).meta.current.limit, 100)
        assert.deepEqual(namesIn(assertSucceeds(await client.get('/messages?limit=100')).data), everything)
      })

      it('begin with the oldest for servers, and end with the newest for end users who do not say where', async () => {
        const own = await appWith(h, 'ada', 'lin')
        assertSucceeds(await own.post('/groups', { guid: 'g', name: 'G', members: { participants: ['ada', 'lin'] } }))
        const sent: string[] = []
        for (let n = 0; n < 5; n += 1) sent.push((await sayIn(own, 'g', 'lin', `m${n}`)).id)
        const { sentAt } = assertSucceeds(await own.get(`/messages/${sent[0]}`)).data
        const client = await clientOf(h, own, 'ada')
        const ids = async (caller: Pick<typeof client, 'get'>, search = '') =>
          idsIn(assertSucceeds(await caller.get(`/groups/g/messages?category=message&limit=2${search}`)).data)
        const server = { get: (path: string) => own.get(path, as('ada')) }
        const [oldest, newest] = [sent.slice(0, 2), sent.slice(-2)]
        assert.deepEqual([await ids(server), await ids(client)], [oldest, newest])
        for (const said of ['&affix=append', '&id=0', `&sentAt=${sentAt - 1}`, '&fromTimestamp=1', '&updatedAt=1']) {
          assert.deepEqual(await ids(client, said), oldest, said)
        }
        const { meta } = assertSucceeds(await client.get('/groups/g/messages?category=message&limit=2'))
        assert.deepEqual([meta.previous.id, meta.next.id], newest)
        assert.deepEqual(await ids(client, `&${new URLSearchParams(meta.previous)}`), sent.slice(1, 3))
        for (const id of sent.slice(0, 3)) assertSucceeds(await own.post(`/messages/${id}/save`, undefined, as('ada')))
        assert.deepEqual(await ids(client, '&saved=true'), [sent[2], sent[1]])
      })

      it('take perPage for the limit where one conversation is read', async () => {
        const limit = async (search: string) =>
          assertSucceeds(await app.get(`/users/lin/messages?${search}`, as('ada'))).meta.current.limit
        assert.deepEqual([await limit('perPage=7'), await limit('perPage=7&limit=3')], [7, 3])
      })

      it('ask for somebody and for membership', async () => {
        assertFails(await app.get('/users/ghost/messages'), 404, 'ERR_UID_NOT_FOUND')
        assertFails(await app.get('/groups/ghost/messages'), 404, 'ERR_GUID_NOT_FOUND')
        assertSucceeds(await app.post('/users', { uid: 'out', name: 'Out' }))
        assertFails(await app.get('/groups/crew/messages', as('out')), 403, 'ERR_GROUP_NOT_JOINED')
        assertSucceeds(await app.post('/groups/crew/members', { usersToBan: ['out'] }))
        assertFails(await app.get('/groups/crew/messages', as('out')), 403, 'ERR_BANNED_GROUPMEMBER')
      })
    })

    describe('what is not read or received', () => {
      it('is listed and counted, of each user and group', async () => {
        const app = await appWith(h, 'ada', 'lin', 'max')
        assertSucceeds(await app.post('/groups', { guid: 'g', name: 'G', members: { participants: ['ada', 'max'] } }))
        // That members came is news, too.
        assertSucceeds(await app.post('/groups/g/conversation/read', {}, as('ada')))
        const read = await say(app, 'lin', 'ada')
        const [a, b] = [await say(app, 'lin', 'ada'), await say(app, 'lin', 'ada')]
        const own = await say(app, 'ada', 'max')
        const c = await sayIn(app, 'g', 'max')
        assertSucceeds(await app.post('/users/lin/conversation/delivered', { messageId: a.id }, as('ada')))
        assertSucceeds(await app.post('/users/lin/conversation/read', { messageId: read.id }, as('ada')))
        const listed = async (search: string) =>
          idsIn(assertSucceeds(await app.get(`/messages?limit=100&${search}`, as('ada'))).data)
        assert.deepEqual(await listed('unread=true'), [a.id, b.id, c.id])
        assert.deepEqual(await listed('undelivered=true'), [b.id, c.id])
        assert.equal((await listed('')).includes(own.id), true)
        const counted = async (path: string) =>
          assertSucceeds(await app.get(`${path}?unread=true&count=true`, as('ada'))).data
        const ofLin = { entityType: 'user', entityId: 'lin', count: 2 }
        const ofGroup = { entityType: 'group', entityId: 'g', count: 1 }
        assert.deepEqual(await counted('/messages'), [ofLin, ofGroup])
        assert.deepEqual(await counted('/users/lin/messages'), [ofLin])
        assert.deepEqual(await counted('/groups/g/messages'), [ofGroup])
        // Counts of some kinds only.
        assertSucceeds(await app.put(`/messages/${b.id}`, { data: { text: 'www.example.org' } }, as('lin')))
        const some = async (asked: string) =>
          assertSucceeds(await app.get(`/messages?unread=true&count=true&${asked}`, as('ada'))).data
        const oneOfLin = { ...ofLin, count: 1 }
        for (const [asked, expected] of [
          ['hasLinks=true', [oneOfLin]],
          ['searchKey=EXAMPLE', [oneOfLin]],
          ['searchKey=absent', []],
          ['receiverType=group', [ofGroup]],
          ['sender=lin', [ofLin]],
          ['category=custom', []],
          ['conversationId=ada_user_lin', [ofLin]],
          ['hideMessagesFromBlockedUsers=true', [ofLin, ofGroup]],
        ] as const) {
          assert.deepEqual(await some(asked), expected, asked)
        }
        assertSucceeds(await app.post('/users/ada/blockedusers', { blockedUids: ['lin'] }))
        assert.deepEqual(await counted('/messages'), [ofGroup])
        assert.deepEqual(await some('receiverType=user'), [])
      })
    })

    describe('a reset', () => {
      it('hides what was said before it in every list of that user, and in no other', async () => {
        const app = await appWith(h, 'ada', 'lin')
        const old = await say(app, 'lin', 'ada', 'before')
        assertSucceeds(await app.post(`/messages/${old.id}/pin`, undefined, as('ada')))
        assertSucceeds(await app.post(`/messages/${old.id}/save`, undefined, as('ada')))
        assertSucceeds(await app.delete('/users/lin/conversation', {}, as('ada')))
        const fresh = await say(app, 'lin', 'ada', 'after', { quotedMessageId: old.id })
        const listed = async (path: string, uid: string) => idsIn(assertSucceeds(await app.get(path, as(uid))).data)
        for (const path of ['/messages', '/users/lin/messages', '/messages?conversationId=ada_user_lin']) {
          assert.deepEqual(await listed(path, 'ada'), [fresh.id], path)
        }
        for (const search of ['searchKey=before', 'saved=true', 'pinned=true']) {
          assert.deepEqual(await listed(`/messages?${search}`, 'ada'), [], search)
          assert.deepEqual(await listed(`/users/lin/messages?${search}`, 'ada'), [], search)
        }
        assertFails(await app.get(`/messages/${old.id}`, as('ada')), 403, 'ERR_MESSAGE_NO_ACCESS')
        const reply = await say(app, 'lin', 'ada', 'a reply', { parentId: old.id })
        const seenBy = async (uid: string, other: string) => {
          const { data } = assertSucceeds(await app.get(`/users/${other}/messages?withParent=true`, as(uid)))
          return data.filter(({ id }: { id: string }) => id !== old.id)
        }
        for (const { id, quotedMessage, parent } of await seenBy('ada', 'lin')) {
          assert.deepEqual([quotedMessage, parent], [undefined, undefined], id)
          assert.equal('quotedMessage' in assertSucceeds(await app.get(`/messages/${id}`, as('ada'))).data, false)
        }
        const [quoting, replying] = await seenBy('lin', 'ada')
        assert.deepEqual([quoting.quotedMessage.id, replying.parent.id], [old.id, old.id])
        for (const link of ['quotedMessageId', 'parentId']) {
          const body = { receiver: 'lin', receiverType: 'user', data: { text: 'x' }, [link]: old.id }
          assertFails(await app.post('/messages', body, as('ada')), 403, 'ERR_MESSAGE_NO_ACCESS')
        }
        assertSucceeds(await app.delete(`/messages/${reply.id}`, { permanent: true }))
        assert.deepEqual(await listed('/users/ada/messages', 'lin'), [old.id, fresh.id])
        assert.deepEqual(idsIn(assertSucceeds(await app.get('/messages')).data), [old.id, fresh.id])
      })
    })
  })
}
