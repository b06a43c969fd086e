import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { conversationIdOf, type Place, placeOfGroup, placeOfKey, placeOfUsers, placesNamed } from './place.ts'

/** Ids that read like parts of the ids of conversations. */
const pieces = ['group', 'user', '_user_', 'group_', 'app_system', '_', '-', 'a', 'b', 'user_', '_user', '0']
const id = fc
  .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 })
  .map((parts) => parts.join('').slice(0, 100))
const place: fc.Arbitrary<Place> = fc.oneof(
  id.map(placeOfGroup),
  fc.tuple(id, id).map(([a, b]) => placeOfUsers(a, b)),
)

const runs = { numRuns: 20_000 }

describe('the key of a conversation', () => {
  it('is that of no other', () => {
    fc.assert(
      fc.property(place, place, (one, other) => {
        const isSame = one.type === other.type && one.first === other.first && one.second === other.second
        assert.equal(one.conversationKey === other.conversationKey, isSame)
      }),
      runs,
    )
  })

  it('tells the whole place, whoever of two is named first', () => {
    fc.assert(
      fc.property(place, (one) => {
        assert.deepEqual(placeOfKey(one.conversationKey), one)
        if (one.type === 'user') assert.deepEqual(placeOfUsers(one.second, one.first), one)
      }),
      runs,
    )
  })

  it('is never read as an id, nor an id as a key', () => {
    fc.assert(
      fc.property(place, ({ conversationKey }) => {
        assert.deepEqual(placesNamed(`${conversationKey}`), [])
        assert.ok(!conversationIdOf(conversationKey).includes('/'))
      }),
      runs,
    )
  })
})

describe('the id of a conversation on the wire', () => {
  it('means this conversation, and others only if they have the same id', () => {
    fc.assert(
      fc.property(place, (one) => {
        const conversationId = conversationIdOf(one.conversationKey)
        const meant = placesNamed(conversationId)
        assert.ok(meant.some(({ conversationKey }) => conversationKey === one.conversationKey))
        for (const { conversationKey } of meant) assert.equal(conversationIdOf(conversationKey), conversationId)
        assert.equal(new Set(meant.map(({ conversationKey }) => conversationKey)).size, meant.length)
      }),
      runs,
    )
  })

  it('is taken in any letter case', () => {
    assert.deepEqual(placesNamed('Ada_USER_lin'), [placeOfUsers('ada', 'lin')])
    assert.deepEqual(placesNamed('GROUP_Crew'), [placeOfGroup('crew')])
  })

  it('means nothing if it is none', () => {
    const none = [
      '',
      'ada',
      'group_',
      '_user_',
      'ada_user_',
      '_user_lin',
      'lin_user_ada',
      'a b_user_c',
      'group_é',
      'g/a',
    ]
    for (const text of [...none, `group_${'a'.repeat(101)}`, `a_user_${'b'.repeat(101)}`]) {
      assert.deepEqual(placesNamed(text), [], text)
    }
  })

  it('means at most forty conversations, however often it can be cut', () => {
    for (const text of ['_user'.repeat(41), `group${'_user_user'.repeat(20)}`, `a${'_user'.repeat(40)}_b`]) {
      assert.ok(placesNamed(text).length <= 40, text)
    }
    assert.deepEqual(placesNamed('_user_'.repeat(100_000)), [])
  })
})
