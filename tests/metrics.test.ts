import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pino } from 'pino'
import { createObserver } from '../server/src/http/observe.ts'

describe('metrics', () => {
  it('tell how many jobs are given up now: what is not there any more keeps no figure, nor while nobody can tell', async () => {
    const observer = createObserver(pino({ level: 'silent' }))
    let count = async () => new Map([['notes.post', 3]])
    observer.watchJobs(() => count())
    const figures = async () => (await observer.metrics()).match(/^parley_jobs_dead\{.*$/gm) ?? []
    assert.deepEqual(await figures(), ['parley_jobs_dead{job="notes.post"} 3'])
    count = async () => new Map([['files.sweep', 1]])
    assert.deepEqual(await figures(), ['parley_jobs_dead{job="files.sweep"} 1'])
    count = () => Promise.reject(new Error('The database is away.'))
    assert.deepEqual(await figures(), [])
  })
})
