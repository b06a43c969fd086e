import { setImmediate as nextTurn } from 'node:timers/promises'

// After so long others have their turn.
const turnMilliseconds = 10

/** Makes something of each, in order, and lets others in whenever it has taken a while. */
export async function mapInTurns<Given, Made>(given: Iterable<Given>, make: (one: Given) => Made): Promise<Made[]> {
  const made: Made[] = []
  let since = performance.now()
  for (const one of given) {
    made.push(make(one))
    if (performance.now() - since < turnMilliseconds) continue
    await nextTurn()
    since = performance.now()
  }
  return made
}
