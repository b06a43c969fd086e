import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Item } from '@parley/sdk'
import type { Message } from '@parley/sdk/api'
import { sentenceOf } from '../../demo/src/messages/actions.ts'
import { firstAfter, newsAfter, rowsOf } from '../../demo/src/messages/rows.ts'
import { isEmojiOnly, partsOf, safeAddress } from '../../demo/src/messages/text-parts.ts'
import { grown } from '../../demo/src/messages/use-slices.ts'
import { sizeInWords } from '../../demo/src/parts/size-in-words.ts'

const noon = new Date(2026, 6, 15, 12).getTime() / 1_000

function messageOf(id: string, sender: string, more: Partial<Message> = {}): Message {
  return { id, sender, category: 'message', type: 'text', sentAt: noon, data: { text: id }, ...more } as Message
}

const itemOf = (message: Message): Item => ({ key: message.id, state: 'sent', message })

describe('rows of messages', () => {
  const shapeOf = (items: Item[], firstUnread?: string) =>
    rowsOf(items, 'nora', firstUnread).map((row) => (row.kind === 'item' ? [row.key, row.isFirstOfRun] : row.kind))

  it('join what one person says within minutes, and nothing else', () => {
    const items = [
      messageOf('1', 'milo'),
      messageOf('2', 'milo', { sentAt: noon + 60 }),
      messageOf('3', 'milo', { sentAt: noon + 3_600 }),
      messageOf('4', 'nora', { sentAt: noon + 3_600 }),
    ].map(itemOf)
    assert.deepEqual(shapeOf(items), ['day', ['1', true], ['2', false], ['3', true], ['4', true]])
  })

  it('are apart by day, by what is unread, and by what happened', () => {
    const items = [
      messageOf('1', 'milo'),
      messageOf('2', 'milo'),
      messageOf('3', 'milo', { category: 'action' }),
      messageOf('4', 'milo', { sentAt: noon + 24 * 3_600 }),
    ].map(itemOf)
    assert.deepEqual(shapeOf(items, '2'), ['day', ['1', true], 'unread', ['2', true], ['3', true], 'day', ['4', true]])
  })

  it('begin to be unread after the last one read, with one of somebody else', () => {
    const items = [messageOf('9', 'milo'), messageOf('10', 'nora'), messageOf('11', 'milo')].map(itemOf)
    assert.equal(firstAfter(items, '9', 'nora'), '11')
    assert.equal(firstAfter(items, undefined, 'nora'), '9')
    assert.equal(firstAfter(items, '11', 'nora'), undefined)
  })

  it('begin to be unread with what was said, not with what happened to the group', () => {
    const items = [messageOf('9', 'app_system', { category: 'action' }), messageOf('10', 'milo')].map(itemOf)
    assert.equal(firstAfter(items, undefined, 'nora'), '10')
  })

  it('count what others have said since, unless it was read elsewhere', () => {
    const items = [
      messageOf('9', 'milo'),
      messageOf('10', 'milo'),
      messageOf('11', 'nora'),
      messageOf('12', 'milo', { readByMeAt: noon }),
    ].map(itemOf)
    assert.equal(newsAfter(items, '9', 'nora'), 1)
    assert.equal(newsAfter(items, undefined, 'nora'), 0)
  })
})

describe('what is added to a list of messages', () => {
  const listOf = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => itemOf(messageOf(String(from + n), 'milo')))
  const keysOf = (items: readonly Item[]) => [items[0]?.key, items.at(-1)?.key, items.length]

  it('comes in slices beside what is there, until all of it is', () => {
    const all = listOf(0, 100)
    const steps = [all.slice(40, 60)]
    while (steps.at(-1) !== all) steps.push(grown(steps.at(-1) ?? [], all) as Item[])
    assert.deepEqual(steps.map(keysOf), [
      ['40', '59', 20],
      ['30', '69', 40],
      ['20', '79', 60],
      ['10', '89', 80],
      ['0', '99', 100],
    ])
  })

  it('comes at once where nothing is left of what was there, or where it is little', () => {
    const all = listOf(100, 160)
    assert.equal(grown(listOf(0, 50), all), all)
    assert.equal(grown([], all), all)
    assert.equal(grown(all.slice(10, 50), all), all)
  })

  it('leaves out at once what was let go of', () => {
    assert.deepEqual(keysOf(grown(listOf(50, 350), listOf(0, 300))), ['40', '299', 260])
  })
})

describe('texts of messages', () => {
  const kindsOf = (text: string, mentions = new Map<string, string>()) =>
    partsOf(text, mentions).map((part) => [part.kind, 'text' in part ? part.text : part.name])

  it('have links that end where the sentence does', () => {
    assert.deepEqual(kindsOf('See https://parley.example/a(b), or www.example.org.'), [
      ['plain', 'See '],
      ['link', 'https://parley.example/a(b)'],
      ['plain', ', or '],
      ['link', 'www.example.org'],
      ['plain', '.'],
    ])
    assert.deepEqual(kindsOf('(https://parley.example)'), [
      ['plain', '('],
      ['link', 'https://parley.example'],
      ['plain', ')'],
    ])
  })

  it('mention only whom the server knows', () => {
    const text = '<@uid:Kenji> and <@uid:ghost>'
    assert.deepEqual(kindsOf(text, new Map([['kenji', 'Kenji Mori']])), [
      ['mention', 'Kenji Mori'],
      ['plain', ' and <@uid:ghost>'],
    ])
  })

  it('have nothing but code in code', () => {
    assert.deepEqual(kindsOf('```ts\nlet a = `b`\n``` and `www.example.org`'), [
      ['block', 'let a = `b`'],
      ['plain', ' and '],
      ['code', 'www.example.org'],
    ])
  })

  it('lead only to the web and to files of the window', () => {
    const refused = ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/hosts', 'no address', '']
    for (const address of refused) assert.equal(safeAddress(address), undefined)
    assert.equal(safeAddress('https://parley.example'), 'https://parley.example/')
  })

  it('are large where they are a few emoji', () => {
    for (const text of ['🎉', '👩‍👩‍👧 ❤️', '🇯🇵']) assert.ok(isEmojiOnly(text), text)
    for (const text of ['', '1', 'a 🎉', '🎉'.repeat(20)]) assert.ok(!isEmojiOnly(text), text)
  })
})

describe('sentences of what happened', () => {
  const happened = (action: string, by: string, on: string, more = {}) =>
    messageOf('1', by, {
      category: 'action',
      type: 'groupMember',
      data: { action, entities: { by: personOf(by), on: personOf(on) }, ...more },
    })
  const personOf = (uid: string) => ({ entity: { uid, name: uid.toUpperCase() } })
  const plain = (message: Message, me: string) => sentenceOf(message, me).replace(/[\u2068\u2069]/g, '')

  it('call the reader you, where they do something and where something is done to them', () => {
    assert.equal(plain(happened('added', 'nora', 'kenji'), 'nora'), 'You added KENJI')
    assert.equal(plain(happened('added', 'app_system', 'kenji'), 'kenji'), 'The app added you')
    assert.equal(plain(happened('kicked', 'nora', 'kenji'), 'milo'), 'NORA removed KENJI')
  })

  it('tell the scope, and something of what they do not know', () => {
    const extras = { extras: { scope: { new: 'admin' } } }
    assert.equal(plain(happened('scopeChanged', 'nora', 'kenji', extras), 'milo'), 'NORA made KENJI an admin')
    assert.equal(plain(happened('painted', 'nora', 'kenji'), 'milo'), 'NORA changed the group')
    assert.equal(
      plain(messageOf('1', 'nora', { category: 'call', type: 'video', data: {} }), 'nora'),
      'You called · video',
    )
  })
})

describe('sizes of files', () => {
  const cases: [number, string][] = [
    [0, '0 bytes'],
    [999, '999 bytes'],
    [48_000, '48 KB'],
    [2_400_000, '2.4 MB'],
  ]
  for (const [bytes, words] of cases) {
    it(`says "${words}" of ${bytes}`, () => assert.equal(sizeInWords(bytes).replace(',', '.'), words))
  }
})
