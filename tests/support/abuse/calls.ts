import type { Abuses } from './abuse.ts'
import { busyUser, host } from './people.ts'

const perPage = 1_000

export const calls: Abuses = {
  listCalls: [
    {
      most: 'the last page of all calls of two users since a moment, which have to be counted',
      ask: () => ({ as: busyUser, query: { uid: host, startedAt: 1, endedAt: 4_000_000_000, perPage, page: 5 } }),
    },
    {
      most: 'the last page of all calls that were placed and have ended, each of which is looked up',
      ask: () => ({ as: busyUser, query: { direction: 'outgoing', status: 'ended', perPage, page: 5 } }),
    },
    {
      most: 'every filter there is, of which none finds anything',
      ask: () => ({
        as: busyUser,
        query: {
          ...{ uid: host, startedAt: 1, endedAt: 4_000_000_000, type: 'audio', mode: 'call', status: 'ended' },
          ...{ receiverType: 'user', participantsCount: 49, hasRecording: true, hasTranscription: true, perPage },
        },
      }),
    },
  ],
  getCall: [{ most: 'it takes nothing but an id', ask: ({ sessionId }) => ({ as: busyUser, params: { sessionId } }) }],
}
