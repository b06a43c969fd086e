import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type FeatureKey, features } from '../restricted-features/index.ts'
import type { RoleSettings } from '../roles/schemas.ts'
import { type RolePermissionId, rolePermissions } from './catalogue.ts'
import { noRole, type PermissionValue, valuesInForce } from './permissions.ts'
import {
  listedBlockedRoles,
  listedGroupTypes,
  listedMessages,
  listedUsers,
  type MessageToSend,
  mayBlock,
  mayCall,
  mayCreateGroup,
  mayDeleteMessage,
  mayEditMessage,
  mayJoinGroup,
  mayReadGroup,
  maySeeUser,
  maySendMessage,
  mayUnblock,
  mayUse,
  type Policy,
  type RoleAct,
  readableGroupTypes,
  readsOfFriendsOnly,
} from './rules.ts'

interface Written {
  values?: Partial<Record<RolePermissionId, PermissionValue>>
  settings?: RoleSettings
  restricted?: FeatureKey[]
}

function policy({ values = {}, settings = {}, restricted = [] }: Written = {}): Policy {
  return {
    role: 'tutor',
    settings: { listUsers: 'all', sendMessagesTo: 'all', ...settings },
    restricted: new Set(restricted),
    values: valuesInForce(rolePermissions, new Map(Object.entries(values))),
    hasScopeRules: false,
  }
}

const friend = { friend: true, role: 'tutor' }
const stranger = { friend: false, role: 'guest' }
const direct = (to: typeof friend, more: Partial<MessageToSend> = {}): MessageToSend => ({
  receiver: { type: 'user', ...to },
  category: 'message',
  type: 'text',
  mimeTypes: [],
  isReply: false,
  ...more,
})
const toGroup: MessageToSend = { ...direct(stranger), receiver: { type: 'group' } }
const withFile = (...mimeTypes: string[]) => direct(stranger, { type: 'file', mimeTypes })
const place = direct(stranger, { category: 'custom', type: 'location' })
const form = direct(stranger, { category: 'interactive', type: 'form' })
const asReply = (message: MessageToSend): MessageToSend => ({ ...message, isReply: true })

/** A question to the rules; what it is answered by default comes first, then what each value makes of it. */
interface Decision {
  id: RolePermissionId
  question: string
  ask: (policy: Policy) => unknown
  byDefault: unknown
  given: [value: PermissionValue, answer: unknown][]
}

const decide = (
  id: RolePermissionId,
  question: string,
  ask: Decision['ask'],
  byDefault: unknown,
  given: Decision['given'],
): Decision => ({ id, question, ask, byDefault, given })

const yesOrNo: Decision['given'] = [
  ['allow', true],
  ['deny', false],
]
/** For a list that must hold `word` to let it pass. */
const listHolding = (word: string, others: string[]): Decision['given'] => [
  [[], true],
  [[word], true],
  [[...others, word], true],
  ...others.map((other): [string[], boolean] => [[other], false]),
  [others, others.length === 0],
]
const messageTypes = ['text', 'image', 'audio', 'video', 'file']
const groupTypes = ['public', 'private', 'password']
const openGroupTypes = ['public', 'password']
const scopes = ['admin', 'moderator', 'participant']
const without = (words: string[], word: string) => words.filter((each) => each !== word)

/** Permissions that an operation is switched by, and the names under which operations ask for them. */
const switched: [RolePermissionId, RoleAct[]][] = [
  ['listUsers', ['listUsers']],
  ['getUserDetails', ['getUser']],
  ['blockUser', ['blockUser']],
  ['listBlockedUser', ['getBlockedUsers']],
  ['unblockedUser', ['unblockUser']],
  ['editProfile', ['editProfile']],
  ['listMessages', ['listMessages', 'getUserMessages', 'getGroupMessages', 'listThreadedMessages']],
  ['listThreadedMessages', ['listThreadedMessages']],
  ['getMessageDetails', ['getMessage']],
  ['listReactions', ['listReactions']],
  ['addReaction', ['addReaction']],
  ['joinCall', ['joinCall']],
  ['listConversations', ['listConversations', 'getConversation']],
  ['updateConversation', ['updateConversation']],
  ['deleteConversation', ['deleteConversationForUser']],
  ['getGroupDetails', ['getGroup']],
  ['createGroup', ['createGroup']],
  ['joinGroup', ['joinGroup']],
  ['listGroups', ['listGroups']],
]

const listed = (p: Policy) => {
  const messages = listedMessages(p)
  return messages === 'none' ? assert.fail('lists hold nothing') : messages
}

const decisions: Decision[] = [
  ...switched.flatMap(([id, acts]) =>
    acts.map((act) => decide(id, `use ${act}`, (p) => mayUse(p, act), true, yesOrNo)),
  ),
  decide('listMessages', 'list nothing', (p) => listedMessages(p) === 'none', false, [
    ['allow', false],
    ['deny', true],
  ]),
  decide('listMessages.mode', 'list messages with friends only', (p) => listed(p).friendsOnly, false, [
    ['all', false],
    ['friends', true],
  ]),
  ...(
    [
      ['listMessages.allowedReceiverTypes', 'receiverTypes', ['user', 'group']],
      ['listMessages.allowedSenderRoles', 'senderRoles', ['tutor', noRole]],
      ['listMessages.allowedMessageCategories', 'categories', ['message', 'custom', 'interactive']],
      ['listMessages.allowedMessageTypes', 'types', messageTypes],
    ] as const
  ).map(([id, name, words]) =>
    decide(
      id,
      `list messages by ${name}`,
      (p) => listed(p)[name],
      [],
      [
        [[], []],
        [[...words], [...words]],
      ],
    ),
  ),
  decide('getMessageDetails.mode', 'read messages with friends only', readsOfFriendsOnly, false, [
    ['all', false],
    ['friends', true],
  ]),
  decide('getUserDetails', 'see a friend', (p) => maySeeUser(p, friend), true, yesOrNo),
  decide('getUserDetails', 'see oneself', (p) => maySeeUser(p, 'self'), true, [['deny', true]]),
  ...(
    [
      ['blockUser', mayBlock],
      ['unblockedUser', mayUnblock],
    ] as const
  ).flatMap(([id, may]) => [
    decide(id, `${id} of any role`, (p) => may(p, 'guest'), true, yesOrNo),
    decide(`${id}.allowedRoles`, `${id} of a guest`, (p) => may(p, 'guest'), true, [
      ...listHolding('guest', ['tutor']),
      [[noRole], false],
    ]),
  ]),
  decide(
    'listBlockedUser.allowedRoles',
    'list blocked users of',
    listedBlockedRoles,
    [],
    [
      [[], []],
      [['tutor'], ['tutor']],
    ],
  ),
  decide('getGroupDetails', 'read a group', (p) => mayReadGroup(p, 'public'), true, yesOrNo),
  ...groupTypes.map((type) =>
    decide(
      'getGroupDetails.allowedGroupTypes',
      `read a ${type} group`,
      (p) => mayReadGroup(p, type),
      true,
      listHolding(type, without(groupTypes, type)),
    ),
  ),
  decide(
    'getGroupDetails.allowedGroupTypes',
    'read groups of type',
    readableGroupTypes,
    [],
    [[['public'], ['public']]],
  ),
  decide('initiateCall.allowedReceiverTypes', 'call a user', (p) => mayCall(p, stranger), true, [
    ...listHolding('user', ['group']),
  ]),
  decide('initiateCall.allowedReceiverTypes', 'call a group', (p) => mayCall(p, 'group'), true, [
    ...listHolding('group', ['user']),
  ]),
  decide('listUsers.mode', 'list friends only', (p) => listedUsers(p).friendsOnly, false, [
    ['all', false],
    ['friends', true],
  ]),
  decide(
    'listUsers.allowedRoles',
    'list users of',
    (p) => listedUsers(p).roles,
    [],
    [
      [[], []],
      [
        ['tutor', 'guest'],
        ['tutor', 'guest'],
      ],
      [[noRole], [noRole]],
    ],
  ),
  decide('getUserDetails.mode', 'see oneself', (p) => maySeeUser(p, 'self'), true, [
    ['all', true],
    ['friends', true],
  ]),
  decide('getUserDetails.mode', 'see a friend', (p) => maySeeUser(p, friend), true, [
    ['all', true],
    ['friends', true],
  ]),
  decide('getUserDetails.mode', 'see a stranger', (p) => maySeeUser(p, stranger), true, [
    ['all', true],
    ['friends', false],
  ]),
  decide('getUserDetails.allowedRoles', 'see oneself', (p) => maySeeUser(p, 'self'), true, [[['guest'], true]]),
  decide('getUserDetails.allowedRoles', 'see a guest', (p) => maySeeUser(p, stranger), true, [
    ...listHolding('guest', ['tutor', 'default']),
    [[noRole], false],
  ]),
  decide('sendMessage', 'send a message', (p) => maySendMessage(p, direct(stranger)), true, yesOrNo),
  decide('sendMessage', 'send to a group', (p) => maySendMessage(p, toGroup), true, yesOrNo),
  decide('sendMessage', 'use createMessage', (p) => mayUse(p, 'createMessage'), true, yesOrNo),
  decide('sendMessage.mode', 'write to a stranger', (p) => maySendMessage(p, direct(stranger)), true, [
    ['all', true],
    ['friends', false],
  ]),
  decide('sendMessage.mode', 'write to a friend', (p) => maySendMessage(p, direct(friend)), true, [['friends', true]]),
  decide('sendMessage.mode', 'write to a group', (p) => maySendMessage(p, toGroup), true, [['friends', true]]),
  decide('sendMessage.allowedReceiverTypes', 'write to a user', (p) => maySendMessage(p, direct(stranger)), true, [
    ...listHolding('user', ['group']),
  ]),
  decide('sendMessage.allowedReceiverTypes', 'write to a group', (p) => maySendMessage(p, toGroup), true, [
    ...listHolding('group', ['user']),
  ]),
  decide('sendMessage.allowedReceiverRoles', 'write to a guest', (p) => maySendMessage(p, direct(stranger)), true, [
    ...listHolding('guest', ['tutor']),
    [[noRole], false],
  ]),
  decide('sendMessage.allowedReceiverRoles', 'write to a group', (p) => maySendMessage(p, toGroup), true, [
    [['tutor'], true],
  ]),
  decide('sendMessage.allowedMessageCategories', 'send a form', (p) => maySendMessage(p, form), true, [
    ...listHolding('interactive', ['message', 'custom']),
  ]),
  ...(['sendMessage', 'sendThreadedMessage'] as const).flatMap((family) => [
    ...['message', 'custom'].map((category) =>
      decide(
        `${family}.allowedMessageCategories`,
        `reply with the category ${category}`,
        (p) => maySendMessage(p, asReply(direct(stranger, { category }))),
        true,
        listHolding(category, without(['message', 'custom'], category)),
      ),
    ),
    ...messageTypes.map((type) =>
      decide(
        `${family}.allowedMessageTypes`,
        `reply with the type ${type}`,
        (p) => maySendMessage(p, asReply(direct(stranger, { type }))),
        true,
        listHolding(type, without(messageTypes, type)),
      ),
    ),
    decide(
      `${family}.allowedMessageTypes`,
      'reply with a custom message',
      (p) => maySendMessage(p, asReply(place)),
      true,
      [[['text'], true]],
    ),
    decide(
      `${family}.allowedMessageTypes`,
      'reply with a file whose type is open',
      (p) => maySendMessage(p, asReply(direct(stranger, { type: ['image', 'file'] }))),
      true,
      [
        [['file'], true],
        [['text', 'audio'], false],
      ],
    ),
    decide(
      `${family}.allowedCustomTypes`,
      'reply with a location',
      (p) => maySendMessage(p, asReply(place)),
      true,
      listHolding('location', ['poll']),
    ),
    decide(
      `${family}.allowedCustomTypes`,
      'reply with text',
      (p) => maySendMessage(p, asReply(direct(stranger))),
      true,
      [[['poll'], true]],
    ),
    decide(`${family}.mimeTypes`, 'reply with a PNG', (p) => maySendMessage(p, asReply(withFile('image/png'))), true, [
      ...listHolding('image/png', ['image/jpeg']),
      [['IMAGE/*'], true],
      [['video/*'], false],
      [['image'], false],
    ]),
    decide(
      `${family}.mimeTypeAccessControl`,
      'reply with a PNG where no type is listed',
      (p) => maySendMessage(p, asReply(withFile('image/png'))),
      true,
      [
        ['allow', true],
        ['deny', true],
      ],
    ),
    decide(
      `${family}.allowedReceiverTypes`,
      'reply to a user',
      (p) => maySendMessage(p, asReply(direct(stranger))),
      true,
      listHolding('user', ['group']),
    ),
    decide(
      `${family}.allowedReceiverTypes`,
      'reply in a group',
      (p) => maySendMessage(p, asReply(toGroup)),
      true,
      listHolding('group', ['user']),
    ),
    decide(
      `${family}.allowedReceiverRoles`,
      'reply to a guest',
      (p) => maySendMessage(p, asReply(direct(stranger))),
      true,
      [...listHolding('guest', ['tutor']), [[noRole], false]],
    ),
    decide(family, 'reply', (p) => maySendMessage(p, asReply(direct(stranger))), true, yesOrNo),
    decide(family, 'use createMessageThread', (p) => mayUse(p, 'createMessageThread'), true, yesOrNo),
  ]),
  decide('sendThreadedMessage', 'send what is no reply', (p) => maySendMessage(p, direct(stranger)), true, [
    ['deny', true],
  ]),
  decide('sendMessage.allowedMimeTypes', 'attach a PNG', (p) => maySendMessage(p, withFile('image/png')), true, [
    ...listHolding('image/png', ['image/jpeg']),
    [['image/*'], true],
    [['IMAGE/*'], true],
    [['video/*'], false],
    [['image'], false],
  ]),
  decide(
    'sendMessage.allowedMimeTypes',
    'attach a PNG and a PDF',
    (p) => maySendMessage(p, withFile('image/PNG', 'application/pdf; charset=binary')),
    true,
    [
      [['image/png'], false],
      [['image/*', 'application/pdf'], true],
    ],
  ),
  decide('sendMessage.allowedMimeTypes', 'attach nothing', (p) => maySendMessage(p, direct(stranger)), true, [
    [['image/png'], true],
  ]),
  ...(
    [
      ['editMessage', 'editThreadedMessage', 'updateMessage', mayEditMessage],
      ['deleteMessage', 'deleteThreadedMessage', 'deleteMessage', mayDeleteMessage],
    ] as const
  ).flatMap(([id, ofReplies, feature, may]) => [
    decide(id, `use ${feature}`, (p) => mayUse(p, feature), true, yesOrNo),
    decide(id, 'change a direct message', (p) => may(p, { isReply: false, scope: undefined }), true, yesOrNo),
    decide(id, 'change a reply', (p) => may(p, { isReply: true, scope: 'admin' }), true, yesOrNo),
    decide(ofReplies, 'change a reply', (p) => may(p, { isReply: true, scope: undefined }), true, yesOrNo),
    decide(ofReplies, 'change what is no reply', (p) => may(p, { isReply: false, scope: undefined }), true, [
      ['deny', true],
    ]),
    decide(
      `${id}.denyForScopes`,
      'change a direct message',
      (p) => may(p, { isReply: false, scope: undefined }),
      true,
      [[scopes, true]],
    ),
    ...scopes.map((scope) =>
      decide(`${id}.denyForScopes`, `change as ${scope}`, (p) => may(p, { isReply: false, scope }), true, [
        [[], true],
        [[scope], false],
        [scopes, false],
        [without(scopes, scope), true],
      ]),
    ),
  ]),
  decide('initiateCall', 'use createCall', (p) => mayUse(p, 'createCall'), true, yesOrNo),
  decide('initiateCall', 'call a user', (p) => mayCall(p, stranger), true, yesOrNo),
  decide('initiateCall', 'call a group', (p) => mayCall(p, 'group'), true, yesOrNo),
  decide('initiateCall.mode', 'call a stranger', (p) => mayCall(p, stranger), true, [
    ['all', true],
    ['friends', false],
  ]),
  decide('initiateCall.mode', 'call a friend', (p) => mayCall(p, friend), true, [['friends', true]]),
  decide('initiateCall.mode', 'call a group', (p) => mayCall(p, 'group'), true, [['friends', true]]),
  decide('initiateCall.allowedReceiverRoles', 'call a guest', (p) => mayCall(p, stranger), true, [
    ...listHolding('guest', ['tutor']),
    [[noRole], false],
  ]),
  decide('initiateCall.allowedReceiverRoles', 'call a group', (p) => mayCall(p, 'group'), true, [[['tutor'], true]]),
  decide('createGroup', 'create a group', (p) => mayCreateGroup(p, 'public'), true, yesOrNo),
  decide('joinGroup', 'join a group', (p) => mayJoinGroup(p, 'public'), true, yesOrNo),
  ...groupTypes.flatMap((type) => [
    decide(
      'createGroup.allowedGroupTypes',
      `create a ${type} group`,
      (p) => mayCreateGroup(p, type),
      true,
      listHolding(type, without(groupTypes, type)),
    ),
  ]),
  ...openGroupTypes.map((type) =>
    decide(
      'joinGroup.allowedGroupTypes',
      `join a ${type} group`,
      (p) => mayJoinGroup(p, type),
      true,
      listHolding(type, without(openGroupTypes, type)),
    ),
  ),
  decide(
    'listGroups.allowedGroupTypes',
    'list groups of type',
    (p) => listedGroupTypes(p),
    [],
    [
      [[], []],
      [groupTypes, groupTypes],
    ],
  ),
]

describe('what a role permission decides', () => {
  for (const { id, question, ask, byDefault, given } of decisions) {
    it(`${id}: ${question}`, () => {
      assert.deepEqual(ask(policy()), byDefault, 'by default')
      for (const [value, answer] of given) {
        assert.deepEqual(ask(policy({ values: { [id]: value } })), answer, JSON.stringify(value))
      }
    })
  }

  it('is written above for every permission there is, and for every value of each', () => {
    for (const [id, { kind }] of Object.entries(rolePermissions)) {
      const tried = decisions
        .filter((decision) => decision.id === id)
        .flatMap(({ given }) => given.map(([value]) => value))
      assert.ok(tried.length > 0, id)
      for (const word of kind.availableValues ?? []) assert.ok(tried.flat().includes(word), `${id}: ${word}`)
    }
    assert.equal(Object.keys(rolePermissions).length, 64)
  })

  it('needs every rule of an act to pass', () => {
    const values = { 'sendMessage.mode': 'friends', 'sendMessage.allowedReceiverRoles': ['guest'] }
    assert.equal(maySendMessage(policy({ values }), direct({ friend: true, role: 'guest' })), true)
    assert.equal(maySendMessage(policy({ values }), direct(stranger)), false)
    assert.equal(maySendMessage(policy({ values }), direct(friend)), false)
  })

  it('reads a list of MIME types as what may be sent, or as what may not', () => {
    for (const family of ['sendMessage', 'sendThreadedMessage']) {
      const send = (word: string, ...mimeTypes: string[]) => {
        const values = { [`${family}.mimeTypeAccessControl`]: word, [`${family}.mimeTypes`]: ['image/*', 'text/plain'] }
        return maySendMessage(policy({ values }), asReply(withFile(...mimeTypes)))
      }
      assert.deepEqual([send('allow', 'image/png'), send('deny', 'image/png')], [true, false])
      assert.deepEqual([send('allow', 'text/csv'), send('deny', 'text/csv')], [false, true])
      assert.deepEqual([send('allow', 'image/png', 'text/csv'), send('deny', 'image/png', 'text/csv')], [false, false])
      assert.deepEqual([send('allow'), send('deny')], [true, true])
    }
  })

  it('asks both lists of MIME types, the older one and the newer', () => {
    const send = (older: string[], newer: string[]) =>
      maySendMessage(
        policy({ values: { 'sendMessage.allowedMimeTypes': older, 'sendMessage.mimeTypes': newer } }),
        withFile('image/png'),
      )
    assert.deepEqual(
      [send(['image/*'], ['image/png']), send(['image/*'], ['text/csv']), send(['text/csv'], ['image/png'])],
      [true, false, false],
    )
  })

  it('is beaten by deny on the act itself', () => {
    const values = { createGroup: 'deny', 'createGroup.allowedGroupTypes': ['public'] }
    assert.equal(mayCreateGroup(policy({ values }), 'public'), false)
  })
})

describe("what a role's settings decide", () => {
  it('listUsers: either layer can narrow the list to friends', () => {
    const friendsOnly = (written: Written) => listedUsers(policy(written)).friendsOnly
    assert.equal(friendsOnly({ settings: { listUsers: 'all' } }), false)
    assert.equal(friendsOnly({ settings: { listUsers: 'friendsOnly' } }), true)
    assert.equal(friendsOnly({ settings: { listUsers: 'friendsOnly' }, values: { 'listUsers.mode': 'all' } }), true)
    assert.equal(friendsOnly({ settings: { listUsers: 'all' }, values: { 'listUsers.mode': 'friends' } }), true)
  })

  it('sendMessagesTo: direct messages only, and either layer can refuse', () => {
    const settings = { sendMessagesTo: 'friendsOnly' } as const
    assert.equal(maySendMessage(policy({ settings }), direct(stranger)), false)
    assert.equal(maySendMessage(policy({ settings }), direct(friend)), true)
    assert.equal(maySendMessage(policy({ settings }), toGroup), true)
    assert.equal(maySendMessage(policy({ settings: { sendMessagesTo: 'all' } }), direct(stranger)), true)
  })
})

describe('what a restricted feature decides', () => {
  for (const feature of features.keys() as IterableIterator<FeatureKey>) {
    it(`${feature}: allowed by default, denied when restricted, untouched by any other`, () => {
      assert.equal(mayUse(policy(), feature), true)
      assert.equal(mayUse(policy({ restricted: [feature] }), feature), false)
      const others = ([...features.keys()] as FeatureKey[]).filter((other) => other !== feature)
      assert.equal(mayUse(policy({ restricted: others }), feature), true)
    })
  }
})
