import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createTypists } from './typists.ts'

describe('those who type at another node', () => {
  it('cease each for themselves, also where their devices have the same name', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const typists = createTypists(5_000)
    const ended: string[] = []
    const hear = (sender: string, action: string) => {
      const frame = { type: 'typing_indicator', sender, body: { action } }
      typists.elsewhere({ appId: 'app', channel: 'group:boats', resource: 'web', frame }, () => ended.push(sender))
    }
    hear('ada', 'started')
    hear('lin', 'started')
    hear('lin', 'ended')
    t.mock.timers.tick(6_000)
    assert.deepEqual(ended, ['ada'])
    typists.close()
  })
})
