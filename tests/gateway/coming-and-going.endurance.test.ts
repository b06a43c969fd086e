import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { databases } from '../support/databases.ts'
import { connect, type Frame, untilAllHeard } from '../support/device.ts'
import { assertSucceeds, house } from '../support/house.ts'
import { times } from '../support/quick.ts'
import { appWith, as, clientOf, sayIn } from '../support/talk.ts'

/** People come into a group and leave it while others talk; one who stays tells what each of them should have heard. */

const comings = times(12, 1_000)
const wordsMeanwhile = 2
const guid = 'boats'

const actionOf = ({ type, body }: Frame, uid: string): string | undefined =>
  type === 'message' && body.data.entities?.on?.entity.uid === uid ? body.data.action : undefined

const inGroup = ({ type, body }: Frame) => type === 'message' && body.receiver === guid

describe('whoever comes and goes', () => {
  for (const database of databases) {
    it(`hears a group while they are in it, to the word, ${comings} times, on ${database}`, async () => {
      const unlimited = { PARLEY_LIMIT_CORE: '1000000', PARLEY_LIMIT_STANDARD: '1000000' }
      const h = await house({ database, environment: unlimited })
      const app = await appWith(h, 'ada', 'lin', 'mia')
      const group = { guid, name: 'Boats', type: 'public', members: { participants: ['mia'] } }
      assertSucceeds(await app.post('/groups', group, as('ada')))
      const [mia, lin] = [await connect(h, app, 'mia'), await connect(h, app, 'lin')]
      const speak = () => Array.from({ length: wordsMeanwhile }, () => sayIn(app, guid, 'ada', randomUUID()))
      const client = await clientOf(h, app, 'lin')
      const comes = [
        () => app.post(`/groups/${guid}/members`, { participants: ['lin'] }),
        () => client.post(`/groups/${guid}/join`),
      ]
      const goes = [
        () => app.delete(`/groups/${guid}/members/lin`),
        () => client.post(`/groups/${guid}/leave`),
        () => app.post(`/groups/${guid}/bannedusers/lin`),
      ]
      for (let n = 0; n < comings; n += 1) {
        await Promise.all([...speak(), comes[n % comes.length]?.(), ...speak()])
        await Promise.all([...speak(), goes[n % goes.length]?.(), ...speak()])
        if (n % goes.length === 2) assertSucceeds(await app.delete(`/groups/${guid}/bannedusers/lin`))
      }
      await untilAllHeard(app, [mia, lin])
      const expected: string[] = []
      let isIn = false
      for (const frame of mia.frames.filter(inGroup)) {
        const action = actionOf(frame, 'lin')
        if (action === 'added' || action === 'joined') isIn = true
        if (isIn) expected.push(frame.position)
        if (action === 'kicked' || action === 'left' || action === 'banned') isIn = false
      }
      assert.ok(expected.length > 2 * comings, `${expected.length} of ${comings}`)
      assert.deepEqual(
        lin.frames.filter(inGroup).map(({ position }) => position),
        expected,
      )
      await h.close()
    })
  }
})
