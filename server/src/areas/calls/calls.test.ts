import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { databases } from '../../../../tests/support/databases.ts'
import { type AppClient, assertFails, assertSucceeds, type House, house } from '../../../../tests/support/house.ts'
import { thorough } from '../../../../tests/support/quick.ts'

/** Contract of the Calls area, through the front door. */

const hour = 3600

for (const database of databases) {
  describe(`calls on ${database}`, () => {
    let h: House
    let app: AppClient
    let start: number
    const ids: Record<string, string> = {}

    before(async () => {
      h = await house({ database })
      app = await h.app('main')
      start = h.clock.now() - 20 * hour
      const play = async (name: string, script: object) => {
        ids[name] = (await app.play(script)).sessionId
      }
      await play('video', {
        initiator: 'nora',
        receiver: 'milo',
        type: 'video',
        startAt: start,
        tags: ['vip'],
        metaData: { ticket: 7 },
        steps: [
          { after: 12, do: 'join', uid: 'nora', deviceId: 'web-7c1' },
          { after: 12, do: 'join', uid: 'milo', deviceId: 'ios-22' },
          { after: 30, do: 'startRecording', rid: 'rec_81' },
          { after: 300, do: 'stopRecording', rid: 'rec_81', url: 'https://media.example.org/rec_81.mp4' },
          { after: 312, do: 'end' },
        ],
      })
      await play('declined', {
        initiator: 'milo',
        receiver: 'amara',
        startAt: start + hour,
        steps: [{ after: 9, do: 'reject', uid: 'amara' }],
      })
      await play('canceled', {
        initiator: 'nora',
        receiver: 'amara',
        startAt: start + 2 * hour,
        steps: [{ after: 9, do: 'cancel' }],
      })
      await play('missed', { initiator: 'nora', receiver: 'kenji', startAt: start + 3 * hour, steps: [] })
      await play('group', {
        initiator: 'amara',
        receiver: 'team',
        receiverType: 'group',
        invited: ['nora', 'kenji'],
        startAt: start + 4 * hour,
        steps: [
          { after: 0, do: 'join', uid: 'amara', deviceId: 'd1' },
          { after: 5, do: 'join', uid: 'kenji', deviceId: 'd2' },
          { after: 125, do: 'end' },
          { after: 200, do: 'transcribe', url: 'https://media.example.org/t.json' },
        ],
      })
      await play('meet', {
        initiator: 'kenji',
        receiver: 'team',
        receiverType: 'group',
        mode: 'meet',
        type: 'video',
        startAt: start + 5 * hour,
        steps: [
          { after: 0, do: 'join', uid: 'kenji', deviceId: 'd1' },
          { after: 60, do: 'leave', uid: 'kenji', deviceId: 'd1' },
        ],
      })
    })
    after(() => h.close())

    const get = (name: string, headers?: Record<string, string>) => app.get(`/calls/${ids[name]}`, headers)
    const listed = async (query: string, headers?: Record<string, string>) => {
      const body = assertSucceeds(await app.get(`/calls${query}`, headers))
      const names = body.data.map(({ sessionId }: { sessionId: string }) =>
        Object.keys(ids).find((name) => ids[name] === sessionId),
      )
      assert.equal(body.meta.pagination.count, names.length)
      return { names, total: body.meta.pagination.total, data: body.data }
    }

    it('shows one call with every field of the contract', async () => {
      const { data } = assertSucceeds(await get('video'))
      const { mid, ...rest } = data
      assert.match(mid, /^[0-9a-f-]{36}$/)
      const entry = (uid: string, deviceId: string) => ({
        uid,
        totalAudioMinutes: 0,
        totalVideoMinutes: 5,
        totalDurationInMinutes: 5,
        totalDuration: 5,
        deviceId,
        isJoined: true,
        joinedAt: start + 12,
        leftAt: start + 312,
        state: 'ended',
        mid,
      })
      assert.deepEqual(rest, {
        sessionId: ids.video,
        type: 'video',
        mode: 'call',
        receiverType: 'user',
        status: 'ended',
        initiator: 'nora',
        receiver: 'milo',
        initiatedAt: start,
        startedAt: start,
        endedAt: start + 312,
        totalAudioMinutes: 0,
        totalVideoMinutes: 10,
        totalDurationInMinutes: 10,
        totalDuration: '00:10:00',
        totalParticipants: 2,
        hasRecording: true,
        hasTranscription: false,
        participants: [entry('nora', 'web-7c1'), entry('milo', 'ios-22')],
        recordings: [
          {
            rid: 'rec_81',
            duration: 4.5,
            startTime: start + 30,
            endTime: start + 300,
            recording_url: 'https://media.example.org/rec_81.mp4',
          },
        ],
        metaData: { ticket: 7 },
        tags: ['vip'],
      })
      assert.match(data.sessionId, new RegExp(`^v1\\.us\\.${app.id}\\.${start}[0-9a-f]{40}$`))
    })

    it('shows metaData and tags on the single call only, empty as []', async () => {
      const { data } = assertSucceeds(await get('declined'))
      assert.deepEqual([data.metaData, data.tags], [[], []])
      const { data: rows } = await listed('?type=video&mode=call')
      assert.ok(!('tags' in rows[0]) && !('metaData' in rows[0]) && 'recordings' in rows[0])
    })

    it('lists newest first in the pagination envelope', async () => {
      const { names, total } = await listed('')
      assert.deepEqual(names, ['meet', 'group', 'missed', 'canceled', 'declined', 'video'])
      assert.equal(total, 6)
      const { meta } = assertSucceeds(await app.get('/calls?page=2&perPage=4'))
      assert.deepEqual(meta, { pagination: { total: 6, count: 2, per_page: 4, current_page: 2, total_pages: 2 } })
    })

    const filters: [query: string, names: string[]][] = [
      ['?type=video', ['meet', 'video']],
      ['?mode=meet', ['meet']],
      ['?mode=presenter', []],
      ['?status=rejected', ['declined']],
      ['?status=canceled', ['canceled']],
      ['?status=unanswered', ['missed']],
      ['?status=ended', ['meet', 'group', 'video']],
      ['?status=initiated', []],
      ['?status=nonsense', []],
      ['?status=ENDED', []],
      ['?type=VIDEO', []],
      ['?receiverType=group', ['meet', 'group']],
      ['?participantsCount=3', ['group']],
      ['?participantsCount=99999999999', []],
      ['?hasRecording=True', ['video']],
      ['?hasRecording=0&type=video', ['meet']],
      ['?hasTranscription=1', ['group']],
      ['?uid=nora', ['group', 'missed', 'canceled', 'video']],
      ['?uid=NORA&status=ended', ['group', 'video']],
      ['?uid=stranger', []],
      ['?type=audio&status=ended&receiverType=group', ['group']],
      ['?unknown=1', ['meet', 'group', 'missed', 'canceled', 'declined', 'video']],
      ['?type=audio&type=video', ['meet', 'video']],
      ['?type=', ['meet', 'group', 'missed', 'canceled', 'declined', 'video']],
    ]
    for (const [query, expected] of filters) {
      it(`filters by ${query}`, async () => {
        const { names, total } = await listed(query)
        assert.deepEqual(names, expected)
        assert.equal(total, expected.length)
      })
    }

    it('filters by time: begun at or after, ended at or before, live calls excluded by the latter', async () => {
      assert.deepEqual((await listed(`?startedAt=${start + 4 * hour}`)).names, ['meet', 'group'])
      assert.deepEqual((await listed(`?startedAt=${start + 4 * hour + 1}`)).names, ['meet'])
      assert.deepEqual((await listed(`?endedAt=${start + 312}`)).names, ['video'])
      assert.deepEqual((await listed(`?endedAt=${start + 311}`)).names, [])
      assert.deepEqual((await listed(`?startedAt=${start + hour}&endedAt=${start + 3 * hour}&uid=amara`)).names, [
        'canceled',
        'declined',
      ])
    })

    it('refuses numbers and booleans that are none', async () => {
      for (const query of [
        'participantsCount=two',
        'hasRecording=maybe',
        'startedAt=1.5',
        'endedAt=now',
        'page=0',
        'perPage=x',
      ]) {
        const answer = await app.get(`/calls?${query}`)
        assertFails(answer, 400, 'ERR_BAD_REQUEST')
        assert.ok(Array.isArray(answer.body.error.details[query.split('=')[0] ?? '']))
      }
    })

    it('scopes by onBehalfOf: only calls the user has a part in, the others are not there', async () => {
      const amara = { onBehalfOf: 'Amara' }
      const { names, total } = await listed('', amara)
      assert.deepEqual(names, ['group', 'canceled', 'declined'])
      assert.equal(total, 3)
      assert.deepEqual((await listed('?uid=nora', amara)).names, ['group', 'canceled'])
      assert.deepEqual((await listed('?uid=amara&status=ended', amara)).names, ['group'])
      assertSucceeds(await get('group', amara))
      assertFails(await get('video', amara), 404, 'ERR_CALL_SESSION_NOT_FOUND')
      assertFails(await app.get('/calls', { onBehalfOf: 'ghost' }), 404, 'ERR_UID_NOT_FOUND')
    })

    it('answers 404 for an unknown session, exact and case-sensitive, and treats /calls/ as the list', async () => {
      assertFails(await app.get('/calls/nothing'), 404, 'ERR_CALL_SESSION_NOT_FOUND')
      assertFails(await app.get(`/calls/${ids.video?.toUpperCase()}`), 404, 'ERR_CALL_SESSION_NOT_FOUND')
      assert.equal(assertSucceeds(await app.get('/calls/')).meta.pagination.total, 6)
    })

    it('keeps apps apart', async () => {
      const other = await h.app('other')
      assertFails(await other.get(`/calls/${ids.video}`), 404, 'ERR_CALL_SESSION_NOT_FOUND')
      assert.equal(assertSucceeds(await other.get('/calls')).meta.pagination.total, 0)
    })

    it('lists transcripts, shows the newest in the record and hides them on request', async () => {
      const { data, meta } = assertSucceeds(await app.get(`/calls/${ids.group}/transcriptions`))
      assert.equal(meta.pagination.total, 1)
      assert.equal(data[0].transcriptUrl, 'https://media.example.org/t.json')
      assert.match(data[0].transcriptDate, /^\d{4}-\d\d-\d\dT/)
      assert.deepEqual(assertSucceeds(await get('group')).data.transcriptions, data)
      assert.deepEqual((await listed('?hasTranscription=true')).data[0].transcriptions, data)
      assert.ok(!('transcriptions' in (await listed('?hasTranscription=true&hideTranscription=true')).data[0]))
      assert.equal(assertSucceeds(await app.get(`/calls/${ids.video}/transcriptions`)).meta.pagination.total, 0)
      assertFails(await app.get('/calls/none/transcriptions'), 404, 'ERR_CALL_SESSION_NOT_FOUND')
      assertFails(
        await app.get(`/calls/${ids.group}/transcriptions`, { onBehalfOf: 'milo' }),
        404,
        'ERR_CALL_SESSION_NOT_FOUND',
      )
    })

    it('explains every number from the ledger', async () => {
      const { data } = assertSucceeds(await app.get(`/calls/${ids.video}/explain`))
      assert.equal(data.facts.length, 6)
      assert.deepEqual(
        data.facts.map(({ fact }: { fact: { kind: string } }) => fact.kind),
        ['initiated', 'joined', 'joined', 'recordingStarted', 'recordingStopped', 'ended'],
      )
      assert.deepEqual(
        data.status.map(({ status }: { status: string }) => status),
        ['initiated', 'ongoing', 'ended'],
      )
      assert.equal(data.totals.videoMinutes, '5 + 5 = 10')
      assert.equal(data.totals.duration, '300 + 300 s = 600 s = 00:10:00')
      assertFails(await app.get('/calls/none/explain'), 404, 'ERR_CALL_SESSION_NOT_FOUND')
    })

    it('reports running minutes of a live call up to now, and ends it when its lease has run out', async () => {
      const live = await (await h.app('live')).play({
        initiator: 'nora',
        receiver: 'milo',
        type: 'audio',
        steps: [
          { after: 0, do: 'join', uid: 'nora', deviceId: 'd1' },
          { after: 1, do: 'join', uid: 'milo', deviceId: 'd2' },
          { after: 30, do: 'cameraOff', uid: 'milo', deviceId: 'd2' },
        ],
      })
      const liveApp = await h.app('live')
      assert.equal(live.status, 'ongoing')
      assert.equal(live.endedAt, undefined)
      const clockBefore = h.clock.offsetSeconds()
      h.clock.setOffset(clockBefore + 30)
      const running = assertSucceeds(await liveApp.get(`/calls/${live.sessionId}`)).data
      assert.ok(running.participants[0].totalAudioMinutes >= 1, JSON.stringify(running))
      assert.equal(assertSucceeds(await liveApp.get('/calls?status=ongoing')).data[0].participants[0].state, 'ongoing')
      h.clock.setOffset(clockBefore + 200)
      await h.settle()
      const over = assertSucceeds(await liveApp.get(`/calls/${live.sessionId}`)).data
      assert.equal(over.status, 'ended')
      assert.equal(over.endedAt, live.startedAt + 30)
      assert.deepEqual([over.participants[0].totalAudioMinutes, over.participants[1].totalAudioMinutes], [0.5, 29 / 60])
      const { data } = assertSucceeds(await liveApp.get(`/calls/${live.sessionId}/explain`))
      assert.ok(data.facts.some(({ fact }: { fact: { cause: string } }) => fact.cause === 'connection lost'))
      h.clock.setOffset(clockBefore)
    })

    it('finds a rung user by uid also beyond the 50 entries that the record shows', async () => {
      const crowd = await h.app('crowd')
      const invited = Array.from({ length: 60 }, (_, n) => `user-${n}`)
      const steps = [{ after: 3, do: 'cancel' }]
      const call = await crowd.play({ initiator: 'nora', receiver: 'team', receiverType: 'group', invited, steps })
      assert.ok(!call.participants.some(({ uid }: { uid: string }) => uid === 'user-59'))
      const { data, meta } = assertSucceeds(await crowd.get('/calls?uid=user-59'))
      assert.deepEqual([data[0].sessionId, meta.pagination.total], [call.sessionId, 1])
    })

    it('turns an unanswered ring final by the clock', async () => {
      const ringing = await (await h.app('ring')).play({
        initiator: 'nora',
        receiver: 'milo',
        steps: [{ after: 1, do: 'ring', uid: 'milo' }],
      })
      const ringApp = await h.app('ring')
      assert.equal(ringing.status, 'initiated')
      const offset = h.clock.offsetSeconds()
      h.clock.setOffset(offset + 5_000)
      await h.settle()
      const missed = assertSucceeds(await ringApp.get(`/calls/${ringing.sessionId}`)).data
      assert.deepEqual([missed.status, missed.endedAt], ['unanswered', ringing.startedAt + 45])
      h.clock.setOffset(offset)
    })
  })

  describe(`long lists of calls on ${database}`, () => {
    it('count exactly and cut every page right, whatever the depth and the filter', thorough, async () => {
      const h = await house({ database, strict: false })
      const app = await h.app('many')
      const now = h.clock.now()
      const people = ['nora', 'milo', 'amara', 'kenji']
      const scripts = Array.from({ length: 700 }, (_, n) => ({
        initiator: people[n % 4],
        receiver: people[(n + 1) % 4],
        type: n % 3 === 0 ? 'video' : 'audio',
        // Several a second now and then, and gaps of weeks.
        startAt: now - 200_000 - Math.floor((n % 97 === 0 ? n * 20_000 : 0) + (n * n) / 3),
        steps: n % 50 === 7 ? [{ after: 3, do: 'cancel' }] : [{ after: 3, do: 'reject', uid: people[(n + 1) % 4] }],
      }))
      for (let n = 0; n < scripts.length; n += 20)
        await Promise.all(scripts.slice(n, n + 20).map((script) => app.play(script)))
      const everything = await pages(app, '', 1000)
      assert.equal(everything.length, 700)
      const sorted = everything.toSorted(
        (a, b) => b.initiatedAt - a.initiatedAt || (a.sessionId < b.sessionId ? -1 : 1),
      )
      assert.deepEqual(everything, sorted)
      const cases: [string, (call: Listed) => boolean][] = [
        ['', () => true],
        ['&type=video', ({ type }) => type === 'video'],
        ['&status=canceled', ({ status }) => status === 'canceled'],
        ['&status=canceled&type=video', ({ status, type }) => status === 'canceled' && type === 'video'],
        ['&uid=nora', ({ initiator, receiver }) => initiator === 'nora' || receiver === 'nora'],
        [
          '&uid=nora&status=rejected',
          (call) => (call.initiator === 'nora' || call.receiver === 'nora') && call.status === 'rejected',
        ],
      ]
      for (const [query, wanted] of cases) {
        assert.deepEqual(
          (await pages(app, query, 37)).map(({ sessionId }) => sessionId),
          everything.filter(wanted).map(({ sessionId }) => sessionId),
          query,
        )
      }
      await h.close()
    })
  })
}

interface Listed {
  sessionId: string
  initiatedAt: number
  type: string
  status: string
  initiator: string
  receiver: string
}

/** All records of a list, page by page; every page must state the same exact total. */
async function pages(app: AppClient, query: string, perPage: number): Promise<Listed[]> {
  const found: Listed[] = []
  for (let page = 1; ; page += 1) {
    const { data, meta } = assertSucceeds(await app.get(`/calls?perPage=${perPage}&page=${page}${query}`))
    found.push(...data)
    if (page >= meta.pagination.total_pages) {
      assert.equal(meta.pagination.total, found.length)
      return found
    }
  }
}
