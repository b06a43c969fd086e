import type { Abuses } from './abuse.ts'
import { busyUser, club, crowd, host } from './people.ts'

const perPage = 1_000
const metadataCharacters = 9_900
const toGroup = (receiver: string) => ({ receiver, receiverType: 'group', type: 'video' })

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
  createCall: [
    {
      most: 'the largest group, in which everybody hears it ring, with as much along as there may be',
      ask: () => ({ as: busyUser, body: { ...toGroup(crowd), metadata: { much: 'x'.repeat(metadataCharacters) } } }),
      refusal: 429,
    },
    {
      most: 'a group whose members are written down one by one',
      ask: () => ({ as: busyUser, body: toGroup(club) }),
      refusal: 429,
    },
  ],
  updateCall: [
    {
      most: 'a call that is over has the most facts to be read, and nothing more happens to it',
      ask: ({ sessionId }) => ({ as: busyUser, params: { sessionId }, body: { status: 'ended' } }),
      refusal: 409,
    },
  ],
  createCallToken: [
    {
      most: 'it takes nothing but an id',
      ask: ({ sessionId }) => ({ as: busyUser, params: { sessionId } }),
      refusal: 409,
    },
  ],
}
