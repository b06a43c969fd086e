import { useEffect, useEffectEvent, useRef } from 'react'

interface WordsInAddress {
  /** What the address says. */
  named: string
  /** What is searched for. */
  searched: string
  search(words: string): void
  name(words: string): void
}

/** What is searched for goes into the address; what the address says anew, as on the way back, is searched for. */
export function useWordsInAddress({ named, searched, search, name }: WordsInAddress): void {
  const known = useRef(named)

  const hear = useEffectEvent((words: string) => {
    if (words === known.current) return
    known.current = words
    search(words)
  })
  const tell = useEffectEvent((words: string) => {
    if (words === known.current) return
    known.current = words
    name(words)
  })

  useEffect(() => hear(named), [named])
  useEffect(() => tell(searched), [searched])
}
