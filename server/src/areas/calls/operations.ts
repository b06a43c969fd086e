import { pageOf, paginationOf, sliceOf } from '../../common/page.ts'
import { one } from '../../common/reply.ts'
import { operation } from '../../kit/operation.ts'
import { callNotFound } from './errors.ts'
import { explain } from './explain.ts'
import { numberedFacts } from './ledger.ts'
import { transcriptionsOf } from './record.ts'
import { Call, CallListQuery, Explanation, ListedCall, TranscriptionListQuery, TranscriptionRecord } from './schemas.ts'
import { fold } from './state.ts'
import { callsPage, callText, requireCall, selectOfServer } from './store.ts'
import { selectOwn } from './user-log.ts'
import { shownTo } from './user-log-record.ts'

const listCalls = operation({
  id: 'listCalls',
  route: 'GET /calls',
  summary: 'List calls',
  description:
    'Newest first. All filters combine. Whoever acts sees only calls that they have a part in, and in them the names of ' +
    'those whom they may see.',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'listCalls',
  query: CallListQuery,
  mayTakeLong: true,
  reply: pageOf(ListedCall),
  run({ db, query, actor, now }) {
    if (!actor) return callsPage(db, query, (slice) => selectOfServer(db, query, slice), now)
    return callsPage(db, query, (slice) => selectOwn(db, actor.uid, query, slice), now, shownTo(db, actor))
  },
})

const getCall = operation({
  id: 'getCall',
  route: 'GET /calls/{sessionId}',
  summary: 'Get a call',
  doors: ['server', 'client'],
  onBehalfOf: 'optional',
  may: 'getCall',
  reply: one(Call),
  errors: [callNotFound],
  find: ({ db, params, actor }) => requireCall(db, params.sessionId, actor?.uid),
  run: ({ db, found, now, actor }) => callText(db, found, now, actor && shownTo(db, actor)),
})

const listCallTranscriptions = operation({
  id: 'listCallTranscriptions',
  route: 'GET /calls/{sessionId}/transcriptions',
  summary: "List a call's transcripts",
  description: 'Newest first. Transcripts are made after a call, so an empty list right after it is normal.',
  onBehalfOf: 'optional',
  may: 'getCall',
  query: TranscriptionListQuery,
  reply: pageOf(TranscriptionRecord),
  errors: [callNotFound],
  find: ({ db, params, actor }) => requireCall(db, params.sessionId, actor?.uid),
  async run({ db, params, query }) {
    const facts = await numberedFacts(db, params.sessionId)
    const all = transcriptionsOf(params.sessionId, fold(facts.map(({ fact }) => fact)))
    const slice = sliceOf(query)
    const data = all.slice(slice.offset, slice.offset + slice.limit)
    return { data, meta: { pagination: paginationOf(all.length, data.length, slice) } }
  },
})

const explainCall = operation({
  id: 'explainCall',
  route: 'GET /calls/{sessionId}/explain',
  summary: 'Explain a call',
  description: 'The facts in the call’s ledger, and how each number of its record follows from them.',
  onBehalfOf: 'optional',
  may: 'getCall',
  reply: one(Explanation),
  errors: [callNotFound],
  find: ({ db, params, actor }) => requireCall(db, params.sessionId, actor?.uid),
  async run({ db, params, now }) {
    const facts = await numberedFacts(db, params.sessionId)
    return { data: explain(params.sessionId, facts, fold(facts.map(({ fact }) => fact)), now) }
  },
})

export const operations = [listCalls, getCall, listCallTranscriptions, explainCall]
