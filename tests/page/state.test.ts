import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Upload } from '@parley/sdk'
import type { Message } from '@parley/sdk/api'
import * as rights from '../../demo/src/groups/rights.ts'
import { plainText } from '../../demo/src/messages/content.ts'
import { partsOf } from '../../demo/src/messages/text-parts.ts'
import { type Address, addressIn, hashOf } from '../../demo/src/state/address.ts'
import { asSent, asWritten, joined, mentionsIn, withMention } from '../../demo/src/state/mentions.ts'

describe('rights in a group, as the chat page offers them', () => {
  const owner: rights.Standing = { isOwner: true, scope: 'admin' }
  const admin: rights.Standing = { isOwner: false, scope: 'admin' }
  const moderator: rights.Standing = { isOwner: false, scope: 'moderator' }
  const participant: rights.Standing = { isOwner: false, scope: 'participant' }
  const stranger: rights.Standing = { isOwner: false }
  const all = { owner, admin, moderator, participant, stranger }
  const whoMay = (may: (own: rights.Standing) => boolean) =>
    Object.entries(all)
      .filter(([, standing]) => may(standing))
      .map(([name]) => name)

  it('are those of the own scope', () => {
    assert.deepEqual(whoMay(rights.mayAdd), ['owner', 'admin'])
    assert.deepEqual(whoMay(rights.mayDelete), ['owner', 'admin'])
    assert.deepEqual(whoMay(rights.mayEdit), ['owner', 'admin', 'moderator'])
    assert.deepEqual(whoMay(rights.mayLiftBans), ['owner', 'admin', 'moderator'])
    assert.deepEqual(whoMay(rights.mayHandOver), ['owner'])
    assert.deepEqual(whoMay(rights.mayLeave), ['admin', 'moderator', 'participant'])
  })

  it('never reach an owner, and those of moderators only participants', () => {
    assert.deepEqual(
      whoMay((own) => rights.mayRemove(own, owner)),
      [],
    )
    assert.deepEqual(
      whoMay((own) => rights.mayRemove(own, moderator)),
      ['owner', 'admin'],
    )
    assert.deepEqual(
      whoMay((own) => rights.mayRemove(own, participant)),
      ['owner', 'admin', 'moderator'],
    )
    assert.deepEqual(rights.otherScopes(owner, admin), ['moderator', 'participant'])
    assert.deepEqual(rights.otherScopes(admin, admin), [])
    assert.deepEqual(rights.otherScopes(admin, participant), ['admin', 'moderator'])
    assert.deepEqual(rights.otherScopes(moderator, participant), ['moderator'])
    assert.deepEqual(rights.otherScopes(participant, participant), [])
    assert.deepEqual(rights.otherScopes(owner, owner), [])
  })
})

describe('addresses of the chat page', () => {
  const cases: [string, Address][] = [
    ['#/', {}],
    ['#/user/lin', { to: { user: 'lin' } }],
    ['#/group/b%2Fo?message=7', { to: { group: 'b/o' }, message: '7' }],
    ['#/group/boats/thread/12', { to: { group: 'boats' }, panel: { kind: 'thread', id: '12' } }],
    ['#/group/boats/members', { to: { group: 'boats' }, panel: { kind: 'members' } }],
    ['#/group/boats/person/lin', { to: { group: 'boats' }, panel: { kind: 'person', uid: 'lin' } }],
    ['#/user/lin/person', { to: { user: 'lin' }, panel: { kind: 'person' } }],
    ['#/search/everywhere?words=two+oars', { panel: { kind: 'search', words: 'two oars', everywhere: true } }],
  ]
  for (const [hash, address] of cases) {
    it(`are read and written alike: ${hash}`, () => {
      assert.deepEqual(addressIn(hash), address)
      assert.equal(hashOf(address), hash)
    })
  }

  it('that nobody wrote lead to what can be read of them', () => {
    for (const hash of ['', '#', '#/user', '#/%E0%A4%A', '#/nowhere/lin']) assert.deepEqual(addressIn(hash), {})
    assert.deepEqual(addressIn('#/user/lin/thread'), { to: { user: 'lin' } })
  })
})

describe('mentions while one writes', () => {
  const ann = { uid: 'a1', name: 'Ann' }
  const annLee = { uid: 'a2', name: 'Ann Lee' }
  const both = withMention(withMention([], ann), annLee)

  it('are ids once sent, the longest name first, and only where a name stands alone', () => {
    const text = '@Ann Lee, @Ann and x@Ann, @Anna'
    assert.equal(asSent({ text, mentions: both }), '<@uid:a2>, <@uid:a1> and x@Ann, @Anna')
    assert.equal(asSent({ text, mentions: [] }), text)
  })

  it('tell two people of one name apart', () => {
    const mentions = withMention(withMention([], ann), { uid: 'a9', name: 'Ann' })
    assert.equal(asSent({ text: '@Ann @Ann (a9)', mentions }), '<@uid:a1> <@uid:a9>')
  })

  it('take names for what they are, whatever stands in them', () => {
    const mentions = withMention([], { uid: 'odd', name: '.*(a+)+[' })
    assert.equal(asSent({ text: 'aaaa @.*(a+)+[ b', mentions }), 'aaaa <@uid:odd> b')
  })

  it('are names again when what was sent is edited', () => {
    const data = { text: 'Ask <@uid:a1> or <@uid:gone>', mentions: { a1: ann } }
    const written = asWritten({ data } as unknown as Message)
    assert.equal(written.text, 'Ask @Ann or <@uid:gone>')
    assert.equal(asSent(written), data.text)
  })

  it('are read alike by all that shows them, whatever stands in a message', () => {
    const data = { text: '<@uid:A1> <@uid:no one>', mentions: { a1: ann, b: null, c: 7 } }
    assert.equal(asWritten({ data } as unknown as Message).text, '@Ann <@uid:no one>')
    assert.equal(plainText(data), '@Ann <@uid:no one>')
    const [first] = partsOf(data.text, mentionsIn(data))
    assert.deepEqual(first, { kind: 'mention', uid: 'A1', name: 'Ann' })
  })

  it('stay when two texts become one', () => {
    const whole = joined({ text: '@Ann', mentions: both.slice(0, 1) }, { text: '@Ann Lee', mentions: both.slice(1) })
    assert.equal(asSent(whole), '<@uid:a1>\n<@uid:a2>')
    assert.equal(joined({ text: '', mentions: [] }, { text: 'b', mentions: [] }).text, 'b')
  })
})

describe('drafts of the chat page', async () => {
  const kept = new Map<string, string>([['parley.person', 'lin']])
  const sessionStorage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  }
  Object.assign(globalThis, { sessionStorage })
  const drafts = await import('../../demo/src/state/drafts.ts')
  const said = { id: '7', data: { text: 'Boat at ten' } } as unknown as Message
  const file = { id: 'f', file: new File([], 'plan.txt'), upload: {} as Upload }
  const plain = (text: string) => ({ text, mentions: [] })

  it('are each their own: of a person, a conversation, a thread', () => {
    const keys = [
      drafts.draftKey({ user: 'max' }),
      drafts.draftKey({ group: 'max' }),
      drafts.draftKey({ user: 'max' }, '7'),
    ]
    kept.set('parley.person', 'max')
    keys.push(drafts.draftKey({ user: 'max' }))
    kept.set('parley.person', 'lin')
    assert.equal(new Set(keys).size, keys.length)
  })

  it('outlive the page with their text', () => {
    const key = drafts.draftKey({ user: 'one' })
    drafts.write(key, plain('Half a thought'))
    assert.deepEqual(JSON.parse(kept.get(`parley.draft.${key}`) ?? ''), plain('Half a thought'))
    const other = drafts.draftKey({ user: 'two' })
    kept.set(`parley.draft.${other}`, JSON.stringify(plain('From before')))
    assert.equal(drafts.draftOf(other).written.text, 'From before')
    const odd = drafts.draftKey({ user: 'odd' })
    kept.set(`parley.draft.${odd}`, '{"text":7}')
    assert.equal(drafts.draftOf(odd).written.text, '')
  })

  it('wait while a message is edited, and are back after it', () => {
    const key = drafts.draftKey({ user: 'edit' })
    drafts.write(key, plain('New'))
    drafts.quoteInDraft(key, said)
    drafts.editInDraft(key, said)
    drafts.write(key, plain('Boat at eleven'))
    assert.equal(drafts.writtenIn(drafts.draftOf(key)).text, 'Boat at eleven')
    assert.equal(drafts.draftOf(key).quote, undefined)
    drafts.leaveBar(key)
    assert.equal(drafts.writtenIn(drafts.draftOf(key)).text, 'New')
  })

  it('are empty once sent, while their files are on their way', () => {
    const key = drafts.draftKey({ user: 'files' })
    drafts.changeDraft(key, (draft) => ({ ...draft, written: plain('The plan'), files: [file], quote: said }))
    drafts.emptyDraft(key)
    assert.deepEqual(drafts.draftOf(key), { written: plain(''), files: [], leaving: [file] })
    assert.equal(kept.has(`parley.draft.${key}`), false)
  })

  it('stay beside a voice note, but for what it answers', () => {
    const key = drafts.draftKey({ user: 'voice' })
    drafts.write(key, plain('Later'))
    drafts.quoteInDraft(key, said)
    drafts.passVoiceNote(key, file)
    assert.deepEqual(drafts.draftOf(key), { written: plain('Later'), files: [], leaving: [file] })
  })
})
