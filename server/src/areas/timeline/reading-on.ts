/**
 * Where a page of a list can be left, on and back. Both ways are always told, also at the ends of a list: whoever reads
 * has reached the end when a page is empty, and can ask again from there for what has come since.
 */

/** On from the last row and back from the first; where there is none, from where one stood already. */
export function bothWays<Row, Keys extends object>(rows: Row[], keysOf: (row: Row) => Keys, stood: Partial<Keys>) {
  const [first, last] = [rows[0], rows.at(-1)]
  const at = (row: Row | undefined): Partial<Keys> => (row === undefined ? stood : keysOf(row))
  return {
    next: { affix: 'append' as const, ...at(last) },
    previous: { affix: 'prepend' as const, ...at(first) },
  }
}

// What is being written while somebody looks is dated a little before it can be seen.
const writingSeconds = 2

/** Where one stands who has looked at an empty list: everything that comes from now on is after it. */
export function beforeNow(now: number): number {
  return now - writingSeconds
}
