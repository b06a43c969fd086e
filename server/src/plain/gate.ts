/**
 * The one way to ask downwards: an area names a question, and the card of an area below brings the answer. Whoever composes
 * areas attaches what their cards bring; where none does, the gate has an answer of its own.
 * Rare on purpose; each gate has a line in docs/decisions.
 */
export interface Gate<Ask> {
  ask: Ask
  /** The answer, for the card of the area that knows it. */
  answeredBy(answer: Ask): GateAnswer
}

/** An answer to one gate. */
export interface GateAnswer {
  gate: string
  /** Lets the gate be answered by it until what is returned is called. */
  attach(): () => void
}

export function gate<Ask extends (...question: never[]) => unknown>(name: string, unattached: Ask): Gate<Ask> {
  let attached = unattached
  let holders = 0
  return {
    ask: ((...question) => attached(...question)) as Ask,
    answeredBy: (answer) => ({
      gate: name,
      attach() {
        // Several houses in one process have the same areas.
        if (holders > 0 && attached !== answer) throw new Error(`The gate "${name}" has another answer already.`)
        attached = answer
        holders += 1
        return () => {
          holders -= 1
          if (holders === 0) attached = unattached
        }
      },
    }),
  }
}

/** Attaches what the cards bring, all or nothing; what is returned takes it back. A gate has one answer. */
export function attachAnswers(cards: { name: string; answers: GateAnswer[] }[]): () => void {
  const answering = new Map<string, string>()
  for (const { name, answers } of cards) {
    for (const { gate } of answers) {
      const other = answering.get(gate)
      if (other !== undefined) throw new Error(`The gate "${gate}" is answered by "${other}" and again by "${name}".`)
      answering.set(gate, name)
    }
  }
  const detach: (() => void)[] = []
  const detachAll = () => {
    for (const each of detach.splice(0)) each()
  }
  try {
    for (const answer of cards.flatMap(({ answers }) => answers)) detach.push(answer.attach())
  } catch (error) {
    detachAll()
    throw error
  }
  return detachAll
}
