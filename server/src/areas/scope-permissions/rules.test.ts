import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { permissionKit } from '../rbac/index.ts'
import { type MemberScope, memberScopes, type ScopeSwitch, type ScopeValues, scopeCatalogues } from './catalogue.ts'
import {
  isMemberListed,
  isReactionListed,
  isRung,
  mayCallGroup,
  mayDeleteHere,
  mayEditHere,
  maySendHere,
  scopeMay,
  seesOf,
} from './rules.ts'

const values = (given: Record<string, permissionKit.PermissionValue> = {}): ScopeValues =>
  permissionKit.valuesInForce(scopeCatalogues.participant, new Map(Object.entries(given)))

/** Switches that no clearance stands behind; those are tested with the rules of groups. */
const switches: ScopeSwitch[] = [
  'leaveGroup',
  'listMembers',
  'sendMessage',
  'editMessage',
  'deleteMessage',
  'listThreadedMessages',
  'sendThreadedMessage',
  'editThreadedMessage',
  'deleteThreadedMessage',
  'listReactions',
  'addReaction',
  'initiateCall',
  'joinCall',
]

const text = { category: 'message', type: 'text', mimeTypes: [] }

describe('the catalogue of a scope', () => {
  it('has 40 permissions, the same for each scope', () => {
    for (const scope of memberScopes) {
      assert.equal(Object.keys(scopeCatalogues[scope]).length, 40)
      assert.deepEqual(Object.keys(scopeCatalogues[scope]), Object.keys(scopeCatalogues.admin))
    }
  })

  it('publishes the defaults of each scope, and holds to the clearance of groups while nothing is set', () => {
    const table: [ScopeSwitch, published: string, unset: string][] = [
      ['editGroup', 'allow deny deny', 'allow allow deny'],
      ['deleteGroup', 'deny deny deny', 'allow deny deny'],
      ['addMembers', 'allow deny deny', 'allow deny deny'],
      ['kickMembers', 'allow allow deny', 'allow allow deny'],
      ['ban', 'allow allow deny', 'allow allow deny'],
      ['unban', 'allow allow deny', 'allow allow deny'],
      ['listBannedUsers', 'allow allow deny', 'allow allow deny'],
      ...switches.map((id): [ScopeSwitch, string, string] => [id, 'allow allow allow', 'allow allow allow']),
    ]
    for (const [id, published, unset] of table) {
      const kinds = memberScopes.map((scope) => scopeCatalogues[scope][id].kind)
      assert.equal(kinds.map(({ defaultValue }) => defaultValue).join(' '), published, id)
      const inForce = memberScopes.map((scope) => permissionKit.valuesInForce(scopeCatalogues[scope], new Map())[id])
      assert.equal(inForce.join(' '), unset, id)
    }
    const words = Object.entries(scopeCatalogues.admin).filter(([, { kind }]) => kind.dataType === 'string')
    const tabled = [...table.map(([id]) => id), ...words.flatMap(([id]) => (id.includes('.') ? [id] : []))]
    assert.deepEqual(tabled.toSorted(), words.map(([id]) => id).toSorted())
  })
})

describe('what a scope permission decides', () => {
  for (const id of switches) {
    it(`${id}: allowed by default and by allow, denied by deny alone`, () => {
      assert.equal(scopeMay(values(), id), true)
      assert.equal(scopeMay(values({ [id]: 'allow' }), id), true)
      assert.equal(scopeMay(values({ [id]: 'deny' }), id), false)
      const others = Object.fromEntries(switches.filter((other) => other !== id).map((other) => [other, 'deny']))
      assert.equal(scopeMay(values(others), id), true)
    })
  }

  const lists: [string, (values: ScopeValues, scope: MemberScope) => boolean][] = [
    ['listReactions.allowedScopes', isReactionListed],
    ['listMembers.allowedScopes', isMemberListed],
    ['initiateCall.allowedScopes', isRung],
  ]
  for (const [id, passes] of lists) {
    it(`${id}: all scopes by default and when empty, else those of the list`, () => {
      for (const scope of memberScopes) {
        const others = memberScopes.filter((other) => other !== scope)
        assert.equal(passes(values(), scope), true)
        assert.equal(passes(values({ [id]: [] }), scope), true)
        assert.equal(passes(values({ [id]: [scope] }), scope), true)
        assert.equal(passes(values({ [id]: others }), scope), false)
      }
    })
  }

  it('initiateCall.allowedType: all types by default and when empty, else those of the list; deny beats it', () => {
    for (const [type, other] of [
      ['audio', 'video'],
      ['video', 'audio'],
    ] as const) {
      assert.equal(mayCallGroup(values(), type), true)
      assert.equal(mayCallGroup(values({ 'initiateCall.allowedType': [] }), type), true)
      assert.equal(mayCallGroup(values({ 'initiateCall.allowedType': [type] }), type), true)
      assert.equal(mayCallGroup(values({ 'initiateCall.allowedType': [other] }), type), false)
      assert.equal(mayCallGroup(values({ initiateCall: 'deny', 'initiateCall.allowedType': [type] }), type), false)
    }
  })

  it('a reply must pass what goes for messages and what goes for replies', () => {
    const rules: [string, permissionKit.PermissionValue][] = [
      ['', 'deny'],
      ['.allowedMessageCategories', ['custom']],
      ['.allowedMessageTypes', ['image']],
    ]
    for (const [rule, value] of rules) {
      const [ofAll, ofReplies] = [
        values({ [`sendMessage${rule}`]: value }),
        values({ [`sendThreadedMessage${rule}`]: value }),
      ]
      assert.deepEqual([maySendHere(ofAll, text, false), maySendHere(ofAll, text, true)], [false, false], rule)
      assert.deepEqual([maySendHere(ofReplies, text, false), maySendHere(ofReplies, text, true)], [true, false], rule)
    }
    for (const [may, id, ofReplies] of [
      [mayEditHere, 'editMessage', 'editThreadedMessage'],
      [mayDeleteHere, 'deleteMessage', 'deleteThreadedMessage'],
    ] as const) {
      assert.deepEqual(
        [false, true].map((isReply) => may(values({ [id]: 'deny' }), isReply)),
        [false, false],
      )
      assert.deepEqual(
        [false, true].map((isReply) => may(values({ [ofReplies]: 'deny' }), isReply)),
        [true, false],
      )
      assert.deepEqual(
        [false, true].map((isReply) => may(values(), isReply)),
        [true, true],
      )
    }
  })

  it('listMessages.historyBeforeJoin: what was said from the moment on at which they came is always seen', () => {
    const [open, shut] = [values(), values({ 'listMessages.historyBeforeJoin': 'deny' })]
    assert.deepEqual(
      [9, 10, 11].map((sentAt) => seesOf(open, sentAt, 10)),
      [true, true, true],
    )
    assert.deepEqual(
      [9, 10, 11].map((sentAt) => seesOf(shut, sentAt, 10)),
      [false, true, true],
    )
  })
})
