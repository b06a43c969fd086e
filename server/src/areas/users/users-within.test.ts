import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { veiledUser } from './store.ts'
import { usersWithin, withUsersVeiled } from './users-within.ts'

const ada = {
  uid: 'ada',
  name: 'Ada Moss',
  role: 'guest',
  status: 'available',
  avatar: 'https://x/ada.png',
  createdAt: 7,
}
const lin = { ...ada, uid: 'lin', name: 'Lin Oke' }
const max = { ...ada, uid: 'max', name: 'Max Vale', scope: 'admin' }

const said = (more: object) => ({
  id: '1',
  category: 'message',
  sender: 'ada',
  data: {
    text: 'Hello',
    // Looks like a user, and is what somebody wrote.
    customData: { ...lin },
    metadata: { ...lin },
    entities: { sender: { entity: ada, entityType: 'user' } },
    ...more,
  },
})

describe('users within', () => {
  const quoting = { ...said({ mentions: { lin } }), quotedMessage: said({}), metadata: { ...lin } }
  const frames: [string, object, string[]][] = [
    ['a message', said({}), ['ada']],
    ['what it quotes and whom it mentions', quoting, ['ada', 'lin', 'ada']],
    ['a message inside of an action', said({ entities: { on: { entity: quoting } } }), ['ada', 'lin', 'ada']],
    ['a list', [{ user: max }, { group: { guid: 'g', name: 'G' } }], ['max']],
  ]
  for (const [what, frame, uids] of frames) {
    it(`are found in ${what}, and nothing that somebody wrote`, () => {
      assert.deepEqual(
        usersWithin(frame).map(({ uid }) => uid),
        uids,
      )
    })
  }

  it('are found among mentions whatever their UID is', () => {
    const uids = ['category', 'data', 'entities', 'mentions', 'metadata', 'tags']
    const mentions = Object.fromEntries(uids.map((uid) => [uid, { ...ada, uid }]))
    const message = said({ mentions, entities: {} })
    assert.deepEqual(
      usersWithin(message).map(({ uid }) => uid),
      uids,
    )
    const veiled = Object.fromEntries(uids.map((uid) => [uid, veiledUser(uid)]))
    assert.deepEqual(withUsersVeiled(message, () => true).data, { ...message.data, mentions: veiled })
  })

  it('are no more than a UID where they are hidden; all else stays', () => {
    const hidden = withUsersVeiled(quoting, (uid) => uid === 'ada')
    const own = { entities: { sender: { entity: veiledUser('ada'), entityType: 'user' } } }
    assert.deepEqual(hidden, {
      ...quoting,
      ...said({ ...own, mentions: { lin } }),
      quotedMessage: said(own),
    })
    const { avatar: _, ...without } = max
    assert.deepEqual(
      withUsersVeiled({ user: max }, () => true),
      { user: { ...without, ...veiledUser('max') } },
    )
  })
})
