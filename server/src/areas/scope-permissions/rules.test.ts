import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { permissionKit } from '../rbac/index.ts'
import { type MemberScope, memberScopes, type ScopeSwitch, type ScopeValues, scopeCatalogue } from './catalogue.ts'
import { isMemberListed, isReactionListed, isRung, mayCallGroup, scopeMay } from './rules.ts'

const values = (given: Record<string, permissionKit.PermissionValue> = {}): ScopeValues =>
  permissionKit.valuesInForce(scopeCatalogue, new Map(Object.entries(given)))

const switches = Object.entries(scopeCatalogue)
  .filter(([, { kind }]) => kind.dataType === 'string')
  .map(([id]) => id as ScopeSwitch)

describe('what a scope permission decides', () => {
  it('covers the whole catalogue below', () => {
    const lists = ['listReactions.allowedScopes', 'listMembers.allowedScopes', 'initiateCall.allowedScopes']
    assert.deepEqual(
      [...switches, ...lists, 'initiateCall.allowedType'].toSorted(),
      Object.keys(scopeCatalogue).toSorted(),
    )
    assert.equal(Object.keys(scopeCatalogue).length, 11)
  })

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
})
