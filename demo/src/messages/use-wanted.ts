import { useCallback, useState } from 'react'
import type { Wanted } from './use-shown.ts'

/** The message to show: the one that the address names, until another one is asked for. */
export function useWanted(named: string | undefined): [Wanted | undefined, (id: string) => void] {
  const [before, setBefore] = useState<string>()
  const [wanted, setWanted] = useState<Wanted>()
  const show = useCallback((id: string) => setWanted({ id }), [])
  if (named !== before) {
    setBefore(named)
    setWanted(named === undefined ? undefined : { id: named })
  }
  return [wanted, show]
}
