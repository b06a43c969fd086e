import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { messageRate } from '../server/src/areas/messages/index.ts'
import { Done, done } from '../server/src/common/reply.ts'
import { requestsOfApp } from '../server/src/common/request-rates.ts'
import { rateLimits } from '../server/src/dispatch/limits.ts'
import { ratesOf } from '../server/src/dispatch/rates.ts'
import { type Area, area } from '../server/src/kit/area.ts'
import type { Rate } from '../server/src/kit/limits.ts'
import { operation } from '../server/src/kit/operation.ts'
import { preparedDatabase } from './support/databases.ts'
import { house } from './support/house.ts'

const rate = (name: string, variable: Rate['setting']['variable']): Rate => ({
  ...{ name, seconds: 60 },
  setting: { variable, about: 'For this test', usual: 5 },
})
const card = (name: string, ...rates: Rate[]): Area => area({ name, about: 'For this test.', rates })

describe('rates on cards', () => {
  const knock = rate('knock', 'PARLEY_LIMIT_KNOCKS')

  it('are known with those of requests once they are composed', () => {
    assert.deepEqual(
      ratesOf([card('doors', knock)]).map(({ name }) => name),
      ['core', 'standard', 'coreOfUser', 'standardOfUser', 'keyedWrite', 'connect', 'knock'],
    )
  })

  it('have names of their own: a second one is refused with the names of both areas', () => {
    const again = rate('knock', 'PARLEY_LIMIT_OTHER')
    const composing = () => ratesOf([card('doors', knock), card('walls', again)])
    assert.throws(composing, /"knock" is brought by "doors" and again by "walls"/)
    assert.throws(() => ratesOf([card('doors', knock, knock)]), /"knock" is brought by "doors" and again by "doors"/)
    const likeRequests = rate(requestsOfApp.core.name, 'PARLEY_LIMIT_OTHER')
    assert.throws(() => ratesOf([card('walls', likeRequests)]), /"core" is brought by the house and again by "walls"/)
  })

  it('have settings of their own, unless they share one', () => {
    const rival = rate('rap', 'PARLEY_LIMIT_KNOCKS')
    const composing = () => ratesOf([card('doors', knock), card('walls', rival)])
    assert.throws(composing, /PARLEY_LIMIT_KNOCKS sets a rate of "doors" and another one of "walls"/)
    ratesOf([card('doors', knock, { ...knock, name: 'knockTwice' })])
  })

  it('are on a card before an operation counts against them', async () => {
    const knocking = operation({
      ...{ id: 'knockAtDoor', route: 'POST /knocks', summary: 'Knocks', userRate: knock },
      reply: Done,
      run: async () => done('Knocked.'),
    })
    const doors = area({ name: 'doors', about: 'For this test.', operations: [knocking] })
    assert.throws(() => ratesOf([doors]), /knockAtDoor counts as "knock", which no card brings/)
    ratesOf([{ ...doors, rates: [knock] }])
    const limits = rateLimits({ add: () => 1 }, new Map())
    await assert.rejects(limits.count(knock, ['ada']), /No card brings the rate "knock"/)
  })

  it('keep a house from opening in which two cards bring the same', async () => {
    const on = await preparedDatabase('sqlite')
    const opening = house({ database: 'sqlite', on, areas: [card('rival', messageRate)] })
    await assert.rejects(opening, /"sendMessage" is brought by "messages" and again by "rival"/)
    await on.drop()
  })
})
