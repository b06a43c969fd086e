import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type FeatureKey, features } from '../restricted-features/index.ts'
import type { RoleSettings } from '../roles/schemas.ts'
import { type RolePermissionId, rolePermissions } from './catalogue.ts'
import { noRole, type PermissionValue, valuesInForce } from './permissions.ts'
import {
  isMessageListed,
  listedGroupTypes,
  listedUsers,
  type MessageToSend,
  mayCall,
  mayCreateGroup,
  mayDeleteMessage,
  mayEditMessage,
  mayJoinGroup,
  maySeeUser,
  maySendMessage,
  mayUse,
  type Policy,
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
  }
}

const friend = { friend: true, role: 'tutor' }
const stranger = { friend: false, role: 'guest' }
const direct = (to: typeof friend, more: Partial<MessageToSend> = {}): MessageToSend => ({
  receiver: { type: 'user', ...to },
  category: 'message',
  type: 'text',
  mimeTypes: [],
  ...more,
})
const toGroup: MessageToSend = { receiver: { type: 'group' }, category: 'message', type: 'text', mimeTypes: [] }
const withFile = (...mimeTypes: string[]) => direct(stranger, { type: 'file', mimeTypes })

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
const scopes = ['admin', 'moderator', 'participant']
const without = (words: string[], word: string) => words.filter((each) => each !== word)

const decisions: Decision[] = [
  decide('listUsers', 'list users', (p) => mayUse(p, 'listUsers'), true, yesOrNo),
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
  decide('sendMessage', 'use createMessageThread', (p) => mayUse(p, 'createMessageThread'), true, yesOrNo),
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
  ...['message', 'custom', 'interactive'].map((category) =>
    decide(
      'sendMessage.allowedMessageCategories',
      `send the category ${category}`,
      (p) => maySendMessage(p, direct(stranger, { category })),
      true,
      listHolding(category, without(['message', 'custom', 'interactive'], category)),
    ),
  ),
  ...messageTypes.map((type) =>
    decide(
      'sendMessage.allowedMessageTypes',
      `send the type ${type}`,
      (p) => maySendMessage(p, direct(stranger, { type })),
      true,
      listHolding(type, without(messageTypes, type)),
    ),
  ),
  decide(
    'sendMessage.allowedMessageTypes',
    'send a custom message',
    (p) => maySendMessage(p, direct(stranger, { category: 'custom', type: 'location' })),
    true,
    [[['text'], true]],
  ),
  decide(
    'sendMessage.allowedCustomTypes',
    'send a location',
    (p) => maySendMessage(p, direct(stranger, { category: 'custom', type: 'location' })),
    true,
    listHolding('location', ['poll']),
  ),
  decide('sendMessage.allowedCustomTypes', 'send text', (p) => maySendMessage(p, direct(stranger)), true, [
    [['poll'], true],
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
      ['editMessage', 'updateMessage', mayEditMessage],
      ['deleteMessage', 'deleteMessage', mayDeleteMessage],
    ] as const
  ).flatMap(([id, feature, may]) => [
    decide(id, `use ${feature}`, (p) => mayUse(p, feature), true, yesOrNo),
    decide(id, `${id} in a direct conversation`, (p) => may(p, undefined), true, yesOrNo),
    decide(`${id}.denyForScopes`, `${id} in a direct conversation`, (p) => may(p, undefined), true, [[scopes, true]]),
    ...scopes.map((scope) =>
      decide(`${id}.denyForScopes`, `${id} as ${scope}`, (p) => may(p, scope), true, [
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
  decide('createGroup', 'use createGroup', (p) => mayUse(p, 'createGroup'), true, yesOrNo),
  decide('createGroup', 'create a group', (p) => mayCreateGroup(p, 'public'), true, yesOrNo),
  decide('joinGroup', 'use joinGroup', (p) => mayUse(p, 'joinGroup'), true, yesOrNo),
  decide('joinGroup', 'join a group', (p) => mayJoinGroup(p, 'public'), true, yesOrNo),
  ...groupTypes.flatMap((type) => [
    decide(
      'createGroup.allowedGroupTypes',
      `create a ${type} group`,
      (p) => mayCreateGroup(p, type),
      true,
      listHolding(type, without(groupTypes, type)),
    ),
    decide(
      'joinGroup.allowedGroupTypes',
      `join a ${type} group`,
      (p) => mayJoinGroup(p, type),
      true,
      listHolding(type, without(groupTypes, type)),
    ),
  ]),
  decide('listGroups', 'use listGroups', (p) => mayUse(p, 'listGroups'), true, yesOrNo),
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
  ...['message', 'custom'].map((category) =>
    decide(
      'listMessages.allowedMessageCategories',
      `find the category ${category} in a list`,
      (p) => isMessageListed(p, { category, type: 'text' }),
      true,
      listHolding(category, without(['message', 'custom'], category)),
    ),
  ),
  ...messageTypes.map((type) =>
    decide(
      'listMessages.allowedMessageTypes',
      `find the type ${type} in a list`,
      (p) => isMessageListed(p, { category: 'message', type }),
      true,
      listHolding(type, without(messageTypes, type)),
    ),
  ),
  decide(
    'listMessages.allowedMessageTypes',
    'find a custom message in a list',
    (p) => isMessageListed(p, { category: 'custom', type: 'location' }),
    true,
    [[['text'], true]],
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
    assert.equal(Object.keys(rolePermissions).length, 28)
  })

  it('needs every rule of an act to pass', () => {
    const values = { 'sendMessage.mode': 'friends', 'sendMessage.allowedReceiverRoles': ['guest'] }
    assert.equal(maySendMessage(policy({ values }), direct({ friend: true, role: 'guest' })), true)
    assert.equal(maySendMessage(policy({ values }), direct(stranger)), false)
    assert.equal(maySendMessage(policy({ values }), direct(friend)), false)
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
