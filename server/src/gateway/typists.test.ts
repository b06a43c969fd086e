import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { until } from '../../../tests/support/until.ts'
import { createTypists } from './typists.ts'

describe('those who type at another node', () => {
  it('cease each for themselves, also where their devices have the same name', async () => {
    const typists = createTypists(5_000, 1)
    const ended: string[] = []
    const hear = (sender: string, action: string) => {
      const frame = { type: 'typing_indicator', sender, body: { action } }
      typists.elsewhere({ appId: 'app', channel: 'group:boats', resource: 'web', frame }, () => ended.push(sender))
    }
    hear('ada', 'started')
    hear('lin', 'started')
    hear('lin', 'ended')
    hear('mia', 'started')
    await until('the last one has ceased', () => ended.includes('mia'))
    assert.deepEqual(ended, ['ada', 'mia'])
    typists.close()
  })
})
