import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { admit, firstLists, isAddress, namedIn, type Team } from './rules.ts'

describe('addresses', () => {
  const long = 'x'.repeat(64)
  for (const text of ['ana@acme.example', 'A.B+c@x', 'owner@localhost', "o'neill@a-b.co", `${long}@x.example`]) {
    it(`are like ${text}`, () => assert.ok(isAddress(text)))
  }
  const wrong = ['ana', '@', 'ana@', '@acme', 'a b@x', 'a@b@c', 'a@-b', 'a@b-', 'a@b..c', 'a@.b', 'a@b.', `${long}x@x`]
  // What looks like a K is a sign of its own, whose lower case is the letter k.
  for (const text of [
    ...wrong,
    'ana@acme\n.example',
    'jo\u212A@x',
    'ünal@x',
    'a@[1.2.3.4]',
    'Ana <ana@acme.example>',
  ]) {
    it(`are not like ${JSON.stringify(text)}`, () => assert.ok(!isAddress(text)))
  }

  it('are known in lower case, and what is none stays as it was sent', () => {
    const admins = [' Ana@ACME.example ', 'JO\u212A@X', 'Ana']
    assert.deepEqual(namedIn({ admins }, 'admins'), ['ana@acme.example', 'JO\u212A@X', 'Ana'])
  })

  it('belong to the first list that names them', () => {
    const change = { collaboratorsToRemove: ['a@x', 'c@x'], moderators: ['B@x'], admins: ['b@x', 'A@x'] }
    assert.deepEqual(Object.fromEntries(firstLists(change)), {
      'b@x': 'admins',
      'a@x': 'admins',
      'c@x': 'collaboratorsToRemove',
    })
  })
})

describe('whoever is added', () => {
  const accounts = { owner: 'owner@x', caller: 'caller@x' }
  const codeOf = (address: string, whose = accounts) => {
    const team: Team = new Map()
    try {
      admit(team, address, 'admin', whose)
      return [...team.keys()]
    } catch (error) {
      assert.equal(team.size, 0)
      return (error as { code: string }).code
    }
  }

  it('is neither the owner nor the one who asks, and the owner is told first', () => {
    assert.deepEqual(codeOf('ana@x'), ['ana@x'])
    assert.equal(codeOf('owner@x'), 'ERR_ALREADY_AN_OWNER')
    assert.equal(codeOf('caller@x'), 'ERR_SELF_ACTION_DENIED')
    assert.equal(codeOf('owner@x', { owner: 'owner@x', caller: 'owner@x' }), 'ERR_ALREADY_AN_OWNER')
  })
})
