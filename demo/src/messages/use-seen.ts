import { useState } from 'react'
import { isAfter } from './content.ts'

/** The latest message that was ever in sight, given the lowest one that is. */
export function useSeen(lowest: string | undefined): string | undefined {
  const [seen, setSeen] = useState(lowest)
  if (lowest !== undefined && (seen === undefined || isAfter(lowest, seen))) setSeen(lowest)
  return seen
}
