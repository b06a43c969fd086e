import { useCallback, useEffect, useState } from 'react'
import type { Wanted } from './use-shown.ts'

/** The message to show: the one that the address names, until another one is asked for. */
export function useWanted(named: string | undefined): [Wanted | undefined, (id: string) => void] {
  const [wanted, setWanted] = useState<Wanted | undefined>(() => (named === undefined ? undefined : { id: named }))
  const show = useCallback((id: string) => setWanted({ id }), [])
  useEffect(() => setWanted(named === undefined ? undefined : { id: named }), [named])
  return [wanted, show]
}
