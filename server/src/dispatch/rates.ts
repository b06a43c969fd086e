import { requestRates } from '../common/request-rates.ts'
import type { Area } from '../kit/area.ts'
import type { Rate } from '../kit/limits.ts'

/** All that is counted: requests, and what the cards bring. A rate has one card, and so has the variable that sets it. */
export function ratesOf(areas: Area[]): Rate[] {
  const brought = [
    ...requestRates.map((rate) => ({ rate, by: 'the house' })),
    ...areas.flatMap(({ name, rates }) => rates.map((rate) => ({ rate, by: `"${name}"` }))),
  ]
  const known = new Map<string, string>()
  const settings = new Map<string, { setting: Rate['setting']; by: string }>()
  for (const { rate, by } of brought) {
    const { name, setting } = rate
    const other = known.get(name)
    if (other) throw new Error(`The rate "${name}" is brought by ${other} and again by ${by}.`)
    known.set(name, by)
    const same = settings.get(setting.variable)
    if (same && same.setting !== setting) {
      throw new Error(`${setting.variable} sets a rate of ${same.by} and another one of ${by}.`)
    }
    settings.set(setting.variable, { setting, by })
  }
  const rates = brought.map(({ rate }) => rate)
  for (const { id, userRate } of areas.flatMap(({ operations }) => operations)) {
    if (userRate && !rates.includes(userRate))
      throw new Error(`${id} counts as "${userRate.name}", which no card brings.`)
  }
  return rates
}
