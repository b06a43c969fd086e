import { useState } from 'react'

/** Something that is asked of the server: under way, done, or refused with a sentence to show. */
export function useAction() {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string>()

  /** Answers whether it was done. */
  async function run(act: () => Promise<unknown>): Promise<boolean> {
    setBusy(true)
    setError(undefined)
    try {
      await act()
      return true
    } catch (reason) {
      setError(sentenceOf(reason))
      return false
    } finally {
      setBusy(false)
    }
  }

  return { run, isBusy, error }
}

function sentenceOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : 'That did not work.'
}
