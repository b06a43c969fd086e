import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { usualSettings } from '../apps/index.ts'
import type { AppSettings } from '../apps/schemas.ts'
import { noticeOf, type Said } from './rules.ts'

const groupActions = 'core.conversations.updateOnGroupActions'
const replies = 'core.conversations.updateOnReplies'
const messageActions = 'core.conversations.updateOnMessageActions'
const callActivity = 'core.conversations.updateOnCallActivity'
const customMessage = 'core.conversations.updateOnCustomMessage'
const threadActions = 'core.threads.updateOnMessageActions'
const keys = [groupActions, replies, messageActions, callActivity, customMessage, threadActions] as const
type Key = (typeof keys)[number]

const said = (category: string, type: string, more: Partial<Said> = {}): Said => ({ category, type, data: {}, ...more })
const quiet = { data: { updateConversation: false } }
const loud = { data: { updateConversation: true } }
const inThread = { inThread: true }

/** For each kind of message what must be switched on for it to count, and to be shown; `never` is never on. */
const never = 'never'
const table: [string, Said, counts: (Key | typeof never)[], shown: (Key | typeof never)[]][] = [
  ['a text', said('message', 'text'), [], []],
  ['a picture', said('message', 'image'), [], []],
  ['a form', said('interactive', 'form'), [], []],
  ['a card', said('card', 'card'), [], []],
  ['a text with a word that only custom messages know', said('message', 'text', quiet), [], []],
  ['a custom message', said('custom', 'location'), [customMessage], [customMessage]],
  ['a custom message that asks for notice', said('custom', 'location', loud), [customMessage], [customMessage]],
  ['a custom message that asks for none', said('custom', 'location', quiet), [never], [never]],
  ['a reply', said('message', 'text', inThread), [never], [replies]],
  ['a custom reply', said('custom', 'location', inThread), [never], [replies, customMessage]],
  ['a custom reply that asks for no notice', said('custom', 'location', { ...inThread, ...quiet }), [never], [never]],
  ['a group action', said('action', 'groupMember'), [groupActions], [groupActions]],
  ['an edit or a deletion', said('action', 'message'), [messageActions], [messageActions]],
  ['the same in a thread', said('action', 'message', inThread), [threadActions], [threadActions]],
  ['a message about a call', said('call', 'video'), [callActivity], [callActivity]],
]

const usualNotice: Record<string, [counts: boolean, shown: boolean]> = {
  'a text': [true, true],
  'a custom message': [true, true],
  'a custom message that asks for none': [false, false],
  'a reply': [false, true],
  'a group action': [true, true],
  'an edit or a deletion': [false, false],
  'the same in a thread': [false, false],
  'a message about a call': [false, false],
}

/** Every way in which the six can be set. */
const everySetting = Array.from(
  { length: 2 ** keys.length },
  (_, bits): AppSettings => ({
    ...usualSettings,
    ...Object.fromEntries(keys.map((key, bit) => [key, ((bits >> bit) & 1) === 1])),
  }),
)

describe('what a conversation takes notice of', () => {
  for (const [kind, message, counts, shown] of table) {
    it(`${kind}: by its own settings and by no other`, () => {
      for (const settings of everySetting) {
        const isOn = (needed: (Key | typeof never)[]) => needed.every((key) => key !== never && settings[key])
        assert.deepEqual(
          noticeOf(settings, message),
          { counts: isOn(counts), shown: isOn(shown) },
          JSON.stringify(settings),
        )
      }
    })
  }

  it('as an app is set from the beginning', () => {
    const found = table.filter(([kind]) => kind in usualNotice).map(([kind, message]) => [kind, message] as const)
    assert.deepEqual(
      Object.fromEntries(
        found.map(([kind, message]) => {
          const { counts, shown } = noticeOf(usualSettings, message)
          return [kind, [counts, shown]]
        }),
      ),
      usualNotice,
    )
  })
})
