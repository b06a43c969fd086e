/**
 * The one way to ask downwards: an area names a question, and an area below attaches the answer when it is loaded.
 * Rare on purpose; each gate has a line in docs/decisions.
 */
export function gate<Ask extends (...question: never[]) => unknown>(unattached: Ask) {
  let answer = unattached
  return {
    ask: ((...question) => answer(...question)) as Ask,
    attach(next: Ask): void {
      answer = next
    },
  }
}
