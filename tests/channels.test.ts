import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { areas } from '../server/src/areas/index.ts'
import { userChannel } from '../server/src/areas/users/events.ts'
import { eventsByName } from '../server/src/dispatch/events-by-name.ts'
import { appChannel, channelKey, channelOf } from '../server/src/kit/channel.ts'

describe('channels', () => {
  it('have each a text of their own, whatever is in an id', () => {
    const ids = ['a', 'a:b', ':', 'user', 'user:a', 'app', 'group:a', ' ', 'é', '%3A']
    const kinds = ['user', 'group', 'app']
    const all = [appChannel, ...kinds.flatMap((kind) => ids.map((id) => ({ kind, id })))]
    assert.equal(new Set(all.map(channelKey)).size, all.length)
    for (const channel of all) assert.deepEqual(channelOf(channelKey(channel)), channel)
  })

  it('are written as events before them wrote them', () => {
    assert.deepEqual([userChannel('ada'), appChannel].map(channelKey), ['user:ada', 'app'])
  })
})

describe('the register of events', () => {
  it('knows every event by its name', () => {
    const register = eventsByName(areas)
    for (const event of areas.flatMap((area) => area.events)) assert.equal(register.get(event.name), event)
  })

  it('refuses two of one name', () => {
    const [first] = areas.flatMap((area) => area.events)
    assert.ok(first)
    assert.throws(() => eventsByName([{ events: [first] }, { events: [{ ...first }] }]), /Two events are called/)
  })
})
