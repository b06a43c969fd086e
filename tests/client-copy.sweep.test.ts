import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { areas } from '../server/src/areas/index.ts'
import { eventsByName } from '../server/src/dispatch/events-by-name.ts'
import { documentedPath } from '../server/src/http/openapi.ts'
import type { Area } from '../server/src/kit/area.ts'
import type { Operation } from '../server/src/kit/operation.ts'
import { acts, upheavals } from './support/client-copy/acts.ts'
import { appReducers } from './support/client-copy/app-reducers.ts'
import { ownReducers } from './support/client-copy/own-reducers.ts'
import { newScene, type Scene, surround } from './support/client-copy/stage.ts'
import { applied, type Watch, watch } from './support/client-copy/watch.ts'
import { type DatabaseName, databases } from './support/databases.ts'
import { assertSucceeds, type House, house } from './support/house.ts'
import type { Answer } from './support/http.ts'
import { clientOfPath, filledPath, plausibleBodies, recordsFor, unkept } from './support/samples.ts'

/**
 * What is told is enough. Several users and the app fetch all that they are shown, once; from then on they change their
 * copies by the events that each of them hears, and after every operation the copies are what a fresh fetch would give.
 * A new operation is covered by its samples; a new event needs a reducer, or a reason for none.
 */

describe('copies that events keep', () => {
  it('have a reducer for every event, or a reason for none', () => {
    const names = [...eventsByName(areas).keys()].toSorted()
    for (const reducers of [ownReducers, appReducers]) {
      assert.deepEqual(Object.keys({ ...reducers, ...unkept }).toSorted(), names)
    }
  })
})

const roundsPerScene = 6

/** All that changes something; where there are several ways in, by another one on each database. */
function writing(database: DatabaseName): { area: Area; operation: Operation; door: string }[] {
  return areas.flatMap((area) =>
    area.operations
      .filter(({ method }) => method !== 'GET')
      .flatMap((operation) => doorsOf(operation, database).map((door) => ({ area, operation, door }))),
  )
}

function doorsOf({ door, doors }: Operation, database: DatabaseName): string[] {
  const all = door === 'management' ? [door] : doors.filter((each) => each !== 'system')
  return database === 'sqlite' ? all.slice(0, 1) : all.slice(-1)
}

for (const database of databases) {
  describe(`copies that events keep, on ${database}`, () => {
    let h: House
    let scene: Scene
    let watching: Watch
    let roundsLeft = 0

    before(async () => {
      for (const names of Object.values(applied)) names.clear()
      h = await house({
        database,
        way: 'dispatch',
        environment: { PARLEY_LIMIT_STANDARD: '1000000', PARLEY_LIMIT_CORE: '1000000' },
      })
    })
    after(() => h.close())

    async function onScene(what: string, act: (scene: Scene) => Promise<unknown>, withApp = true): Promise<void> {
      if (roundsLeft === 0) {
        scene = await newScene(h)
        watching = await watch(scene)
        roundsLeft = roundsPerScene
      }
      // Whatever a round has broken, the next one does not find.
      const left = roundsLeft - 1
      roundsLeft = 0
      await act(scene)
      if (await watching.compare(what, withApp)) roundsLeft = left
    }

    for (const { area, operation, door } of writing(database)) {
      it(`are right after ${operation.id} by ${door}`, () =>
        // What the app is told of it does not depend on who did it.
        onScene(operation.id, (current) => perform(current, area, operation, door), door !== 'client'))
    }

    for (const [what, act] of Object.entries(acts)) it(`are right after ${what}`, () => onScene(what, act))

    for (const [what, act] of Object.entries(upheavals)) {
      it(`are right after ${what}`, async () => {
        roundsLeft = 0
        await onScene(what, act)
      })
    }

    it('were changed by every reducer there is', () => {
      const untried = (reducers: Record<string, unknown>, names: Set<string>) =>
        Object.keys(reducers).filter((name) => typeof reducers[name] === 'function' && !names.has(name))
      const found = { own: untried(ownReducers, applied.own), app: untried(appReducers, applied.app) }
      assert.deepEqual(found, { own: [], app: [] })
    })

    async function perform(current: Scene, area: Area, operation: Operation, door: string): Promise<void> {
      const { app } = current
      const made = await recordsFor(operation, current)
      await surround(current, made)
      await watching.catchUp()
      const path = filledPath(documentedPath(area, operation), { ...made, appId: app.id })
      const headers = await credentials(current, operation, door, path)
      const host = door === 'management' ? 'apimgmt.localhost' : app.host
      const bodies = operation.hasBody ? plausibleBodies(operation).map((make) => make()) : [undefined]
      let answer: Answer | undefined
      for (const body of bodies) {
        answer = await h.client.send(host, path, { method: operation.method, headers, body })
        if (answer.status === 200) return
      }
      assert.fail(`${operation.id} takes none of its bodies: ${answer?.text}`)
    }

    async function credentials(
      { app }: Scene,
      { onBehalfOf }: Operation,
      door: string,
      path: string,
    ): Promise<Record<string, string>> {
      const { key, secret } = h.management
      if (door === 'management') return { key, secret }
      if (door === 'server') return { apikey: app.apiKey, ...(onBehalfOf === 'required' && { onBehalfOf: 'client' }) }
      return { authToken: assertSucceeds(await app.post(`/users/${clientOfPath(path)}/auth_tokens`)).data.authToken }
    }
  })
}
