import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiError } from '../../kit/errors.ts'
import {
  type Acting,
  actingWith,
  type GroupAct,
  requireAdmin,
  requireMayLeave,
  requireMayRead,
  requireMayRemove,
  requireMayRescope,
  requireMayTransfer,
  requireMayUnban,
  requireModerator,
  type Standing,
} from './rules.ts'

const acting: Acting[] = ['server', 'owner', 'admin', 'moderator', 'participant', 'outsider', 'banned']

const codes: Record<string, string> = {
  '+': 'allowed',
  J: 'ERR_GROUP_NOT_JOINED',
  B: 'ERR_BANNED_GROUPMEMBER',
  A: 'ERR_GROUP_NO_ADMIN_SCOPE',
  M: 'ERR_GROUP_NO_MODERATOR_SCOPE',
  C: 'ERR_GROUP_NO_CLEARANCE',
  S: 'ERR_GROUP_NO_SCOPE_CLEARANCE',
  X: 'ERR_GROUP_NO_SELF_ACTION',
}

function outcomeOf(act: () => void): string {
  try {
    act()
    return 'allowed'
  } catch (error) {
    assert.ok(error instanceof ApiError)
    return error.code
  }
}

/** A row: what is done, and what becomes of it for each who may act, in the order above. */
function table(rows: [string, string, (by: Acting) => void][]): void {
  for (const [what, outcomes, act] of rows) {
    it(what, () => {
      const expected = outcomes.split(' ').map((letter) => codes[letter])
      assert.deepEqual(
        acting.map((by) => outcomeOf(() => act(by))),
        expected,
      )
    })
  }
}

const on = (standing: Standing) => ({ standing, self: false })

describe('who may do what in a group', () => {
  // server owner admin moderator participant outsider banned
  table([
    ['read a public group', '+ + + + + + B', (by) => requireMayRead(by, 'public', 'g')],
    ['read a password group', '+ + + + + + B', (by) => requireMayRead(by, 'password', 'g')],
    ['read a private group', '+ + + + + J B', (by) => requireMayRead(by, 'private', 'g')],
    ['change it, or list the banned', '+ + + + M J B', (by) => requireModerator(by, 'g')],
    ['delete it, or add members', '+ + + A A J B', (by) => requireAdmin(by, 'g')],
    ['lift a ban', '+ + + + C J B', (by) => requireMayUnban(by, 'g')],
    ['hand it over', 'C + C C C J B', (by) => requireMayTransfer(by, false, 'g')],
    ['leave', '+ X + + + J B', (by) => requireMayLeave(by, 'g')],
  ])
})

describe('who may kick and ban whom', () => {
  table([
    ['the owner', '+ C C C C J B', (by) => requireMayRemove(by, on('owner'), 'g')],
    ['an admin', '+ + + C C J B', (by) => requireMayRemove(by, on('admin'), 'g')],
    ['a moderator', '+ + + C C J B', (by) => requireMayRemove(by, on('moderator'), 'g')],
    ['a participant', '+ + + + C J B', (by) => requireMayRemove(by, on('participant'), 'g')],
    ['somebody from outside', '+ + + + C J B', (by) => requireMayRemove(by, on('outsider'), 'g')],
  ])

  it('nobody themselves', () => {
    for (const standing of ['owner', 'admin', 'moderator', 'participant'] as const) {
      assert.equal(
        outcomeOf(() => requireMayRemove(standing, { standing, self: true }, 'g')),
        'ERR_GROUP_NO_SELF_ACTION',
      )
    }
  })
})

describe('who may change whose scope', () => {
  table([
    ['the owner, to participant', 'S S S S S J B', (by) => requireMayRescope(by, on('owner'), 'participant', 'g')],
    ['an admin, to participant', '+ + S S S J B', (by) => requireMayRescope(by, on('admin'), 'participant', 'g')],
    ['a moderator, to admin', '+ + + S S J B', (by) => requireMayRescope(by, on('moderator'), 'admin', 'g')],
    [
      'a moderator, to participant',
      '+ + + S S J B',
      (by) => requireMayRescope(by, on('moderator'), 'participant', 'g'),
    ],
    [
      'a participant, to moderator',
      '+ + + + S J B',
      (by) => requireMayRescope(by, on('participant'), 'moderator', 'g'),
    ],
    ['a participant, to admin', '+ + + S S J B', (by) => requireMayRescope(by, on('participant'), 'admin', 'g')],
  ])

  it('nobody their own', () => {
    for (const standing of ['owner', 'admin', 'moderator', 'participant'] as const) {
      assert.equal(
        outcomeOf(() => requireMayRescope(standing, { standing, self: true }, 'participant', 'g')),
        'ERR_GROUP_NO_SELF_ACTION',
      )
    }
  })
})

describe('as what a member acts whom a group allows or denies an act', () => {
  const members: Acting[] = ['owner', 'admin', 'moderator', 'participant']
  const table: [GroupAct[], unset: string, allow: string, deny: string][] = [
    [
      ['kickMembers', 'ban', 'unban', 'listBannedUsers'],
      'owner admin moderator participant',
      'owner admin moderator moderator',
      'denied denied denied denied',
    ],
    [['editGroup'], 'owner admin moderator participant', 'owner admin moderator admin', 'owner denied denied denied'],
    [['deleteGroup'], 'owner admin moderator participant', 'owner admin admin admin', 'owner denied denied denied'],
    [['addMembers'], 'owner admin moderator participant', 'owner admin admin admin', 'denied denied denied denied'],
  ]
  for (const [acts, ...rows] of table) {
    for (const act of acts) {
      it(act, () => {
        for (const [n, word] of [undefined, 'allow' as const, 'deny' as const].entries()) {
          assert.equal(members.map((by) => actingWith(by, act, word)).join(' '), rows[n], word)
        }
      })
    }
  }
})
