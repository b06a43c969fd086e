import { timeOf } from '../messages/times.ts'

/** When something was said, in as few letters as a list has room for: a time, a weekday, or a date. */

const dayMs = 86_400_000

const forms = {
  thisWeek: new Intl.DateTimeFormat(undefined, { weekday: 'short' }),
  thisYear: new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' }),
  earlier: new Intl.DateTimeFormat(undefined, { dateStyle: 'short' }),
}

/** Of UNIX seconds. */
export function shortTime(seconds: number, now = new Date()): string {
  const then = new Date(seconds * 1_000)
  const days = Math.round((startOfDay(now) - startOfDay(then)) / dayMs)
  if (days <= 0) return timeOf(seconds)
  if (days < 7) return forms.thisWeek.format(then)
  return (then.getFullYear() === now.getFullYear() ? forms.thisYear : forms.earlier).format(then)
}

function startOfDay(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime()
}
