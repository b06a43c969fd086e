import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { joinThread } from '../server/src/areas/messages/index.ts'
import { area } from '../server/src/kit/area.ts'
import { attachAnswers, gate } from '../server/src/plain/gate.ts'
import { preparedDatabase } from './support/databases.ts'
import { house } from './support/house.ts'

const card = (name: string, ...answers: Parameters<typeof attachAnswers>[0][number]['answers']) => ({ name, answers })

describe('a gate', () => {
  it('is answered by what a card brings, for as long as that is attached, and else by itself', () => {
    const colour = gate('colour', (of: string) => `${of} has no colour`)
    const grey = colour.answeredBy((of) => `${of} is grey`)
    assert.equal(colour.ask('fog'), 'fog has no colour')
    const detach = attachAnswers([card('weather', grey)])
    assert.equal(colour.ask('fog'), 'fog is grey')
    detach()
    assert.equal(colour.ask('fog'), 'fog has no colour')
  })

  it('keeps its answer until the last house that brought it is closed', () => {
    const colour = gate('colour', () => 'none')
    const cards = [
      card(
        'weather',
        colour.answeredBy(() => 'grey'),
      ),
    ]
    const [first, second] = [attachAnswers(cards), attachAnswers(cards)]
    first()
    first()
    assert.equal(colour.ask(), 'grey')
    second()
    assert.equal(colour.ask(), 'none')
  })

  it('takes one answer: a second one is refused with the names of both areas, and nothing is attached', () => {
    const [colour, size] = [gate('colour', () => 'none'), gate('size', () => 'none')]
    const cards = [
      card(
        'weather',
        size.answeredBy(() => 'large'),
        colour.answeredBy(() => 'grey'),
      ),
      card(
        'paint',
        colour.answeredBy(() => 'red'),
      ),
    ]
    assert.throws(() => attachAnswers(cards), /"colour" is answered by "weather" and again by "paint"/)
    assert.deepEqual([colour.ask(), size.ask()], ['none', 'none'])
  })

  it('takes no other answer from another house beside the first', () => {
    const [colour, size] = [gate('colour', () => 'none'), gate('size', () => 'none')]
    const detach = attachAnswers([
      card(
        'weather',
        colour.answeredBy(() => 'grey'),
      ),
    ])
    const other = [
      card(
        'paint',
        size.answeredBy(() => 'large'),
        colour.answeredBy(() => 'red'),
      ),
    ]
    assert.throws(() => attachAnswers(other), /"colour" has another answer already/)
    assert.deepEqual([colour.ask(), size.ask()], ['grey', 'none'])
    detach()
  })

  it('keeps a house from opening in which two areas answer it', async () => {
    const rival = area({ name: 'rival', about: 'Answers too.', answers: [joinThread.answeredBy(async () => {})] })
    const on = await preparedDatabase('sqlite')
    const opening = house({ database: 'sqlite', on, areas: [rival] })
    await assert.rejects(opening, /"joinThread" is answered by "threads" and again by "rival"/)
    await on.drop()
  })
})
