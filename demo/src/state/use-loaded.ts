import { useEffect, useState } from 'react'

/** Something that is fetched once, and again when it is asked for in another way. */

export type Loaded<T> = { status: 'loading' } | { status: 'failed'; retry: () => void } | { status: 'ready'; value: T }

/** `load` is called again when it is another function: keep it with `useCallback`. What is there stays until then. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [attempt, setAttempt] = useState(0)
  const [loaded, setLoaded] = useState<Loaded<T>>({ status: 'loading' })

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt fetches again.
  useEffect(() => {
    const controller = new AbortController()
    const retry = () => {
      setLoaded({ status: 'loading' })
      setAttempt((count) => count + 1)
    }
    load(controller.signal).then(
      (value) => !controller.signal.aborted && setLoaded({ status: 'ready', value }),
      () => !controller.signal.aborted && setLoaded({ status: 'failed', retry }),
    )
    return () => controller.abort()
  }, [load, attempt])

  return loaded
}
