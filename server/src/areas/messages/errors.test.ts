import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { areas } from '../index.ts'

/** What messages can be refused with, and the status of each. */
const statuses: Record<number, string[]> = {
  400: [
    ...[
      'ERR_EMPTY_RECEIVER',
      'ERR_INVALID_RECEIVER_TYPE',
      'ERR_EMPTY_MESSAGE_CATEGORY',
      'ERR_INVALID_MESSAGE_CATEGORY',
    ],
    ...['ERR_EMPTY_MESSAGE_TYPE', 'ERR_INVALID_MESSAGE_TYPE', 'ERR_INVALID_MESSAGE_DATA', 'ERR_EMPTY_MESSAGE_TEXT'],
    ...['ERR_INVALID_MESSAGE_TEXT', 'ERR_EMPTY_MESSAGE_FILE', 'ERR_INVALID_MEDIA_MESSAGE', 'ERR_EMPTY_CUSTOM_DATA'],
    ...['ERR_INVALID_CUSTOM_DATA', 'ERR_INVALID_METADATA', 'ERR_WRONG_MESSAGE_THREAD', 'ERR_MESSAGE_THREAD_NESTING'],
    ...['ERR_WRONG_MESSAGE_THREAD_CATEGORY', 'ERR_PINNED_MESSAGES_LIMIT_EXCEEDED', 'ERR_FILE_COUNT_EXCEEDED'],
    ...['ERR_SAVED_MESSAGES_LIMIT_EXCEEDED'],
  ],
  403: [
    ...['ERR_MESSAGE_NO_ACCESS', 'ERR_MESSAGE_NOT_A_SENDER', 'ERR_MESSAGE_ACTION_NOT_ALLOWED', 'ERR_BLOCKED_RECEIVER'],
    ...['ERR_BLOCKED_SENDER', 'ERR_BLOCKED_BY_EXTENSION', 'ERR_GROUP_NOT_JOINED', 'ERR_BANNED_GROUPMEMBER'],
    ...['ERR_PERMISSION_DENIED', 'AUTH_ERR_NO_ACCESS'],
  ],
  404: ['ERR_MESSAGE_ID_NOT_FOUND', 'ERR_UID_NOT_FOUND', 'ERR_GUID_NOT_FOUND', 'ERR_BOT_NOT_FOUND'],
}

describe('errors of messages', () => {
  const declared = areas.flatMap(({ operations }) => operations.flatMap(({ errors }) => errors))

  for (const [status, codes] of Object.entries(statuses)) {
    it(`are answered with ${status}`, () => {
      for (const code of codes) {
        const known = new Set(declared.filter((error) => error.code === code).map((error) => error.status))
        assert.deepEqual([...known], [Number(status)], code)
      }
    })
  }
})
