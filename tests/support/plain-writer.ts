import assert from 'node:assert/strict'
import { Unavailable, type Writer } from './crash-writers.ts'
import type { AppOnDisk, ServerProcess } from './server-process.ts'

type Outcome = 'made' | 'not made' | 'in doubt'

/** Sends messages that nothing keeps from being sent twice, and takes the server's word for what became of each. */
export function plainWriter(lane: number, app: AppOnDisk): Writer {
  const [sender, receiver] = [`ps${lane}`, `pr${lane}`]
  const outcomes = new Map<string, Outcome>()
  let isSettled = false

  async function settleIn(server: ServerProcess): Promise<void> {
    if (isSettled) return
    for (const uid of [sender, receiver]) {
      const { status, text } = await app.at(server).post('/users', { uid, name: uid })
      assert.equal(status, 200, text)
    }
    isSettled = true
  }

  async function timesSaid(server: ServerProcess): Promise<Map<string, number>> {
    const times = new Map<string, number>()
    for (let id = '0'; ; ) {
      const path = `/users/${receiver}/messages?limit=1000&id=${id}`
      const { data } = (await app.at(server).get(path, { onBehalfOf: sender })).body
      if (data.length === 0) return times
      for (const message of data) times.set(message.data.text, (times.get(message.data.text) ?? 0) + 1)
      id = data.at(-1).id
    }
  }

  return {
    async write(server) {
      await settleIn(server)
      const text = `p${lane}-${outcomes.size}`
      const body = { receiver, receiverType: 'user', data: { text } }
      const answer = await app.at(server).post('/messages', body, { onBehalfOf: sender })
      if (answer.status === 200) return void outcomes.set(text, 'made')
      assert.equal(answer.status, 503, answer.text)
      outcomes.set(text, /wholly or not at all/.test(answer.body.error.devMessage) ? 'in doubt' : 'not made')
      throw new Unavailable(answer.text)
    },
    async verify(server) {
      const times = await timesSaid(server)
      for (const [text, outcome] of outcomes) {
        const said = times.get(text) ?? 0
        const expected = outcome === 'made' ? [1] : outcome === 'not made' ? [0] : [0, 1]
        assert.ok(expected.includes(said), `${text} was ${outcome}, and is there ${said} times`)
      }
    },
    acknowledged: () => [...outcomes.values()].filter((outcome) => outcome === 'made').length,
  }
}
