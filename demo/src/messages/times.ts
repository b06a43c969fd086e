/** Times as the reader's place and language write them. The server's are in UNIX seconds. */

const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' })
const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

export const timeOf = (seconds: number) => time.format(seconds * 1000)

export const momentOf = (seconds: number) => dateAndTime.format(seconds * 1000)

/** The same for all times of one day. */
export const dayKeyOf = (seconds: number) => new Date(seconds * 1000).toDateString()

export function dayOf(seconds: number, now = Date.now()): string {
  const day = dayKeyOf(seconds)
  if (day === new Date(now).toDateString()) return 'Today'
  const before = new Date(now)
  before.setDate(before.getDate() - 1)
  return day === before.toDateString() ? 'Yesterday' : date.format(seconds * 1000)
}

/** "Last seen": the time alone, where it was today. */
export function lastSeen(seconds: number): string {
  return dayOf(seconds) === 'Today' ? timeOf(seconds) : momentOf(seconds)
}
