/** Does things one after the other, in the order in which they were asked for. */
export interface OneByOne {
  inTurn<T>(work: () => Promise<T>): Promise<T>
  isAtRest(): boolean
  /** Waits for what has been asked for until now. */
  rest(): Promise<unknown>
}

export function oneByOne(): OneByOne {
  let last: Promise<unknown> = Promise.resolve()
  let turns = 0

  return {
    inTurn(work) {
      turns += 1
      const turn = last.then(work).finally(() => {
        turns -= 1
      })
      last = turn.catch(() => {})
      return turn
    },
    isAtRest: () => turns === 0,
    rest: () => last,
  }
}
