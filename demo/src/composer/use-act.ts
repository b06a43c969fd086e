import { useState } from 'react'

/** Something that takes a moment and may be refused. */
export function useAct(run: () => Promise<unknown>) {
  const [isBusy, setIsBusy] = useState(false)
  const [problem, setProblem] = useState<string>()

  async function act(): Promise<void> {
    setIsBusy(true)
    setProblem(undefined)
    try {
      await run()
    } catch (error) {
      setProblem((error as Error).message)
    } finally {
      setIsBusy(false)
    }
  }
  return { act, isBusy, problem }
}
