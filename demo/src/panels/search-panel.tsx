import { ScrollArea, SegmentedControl, Stack, TextInput } from '@mantine/core'
import type { To } from '@parley/sdk'
import { Search } from 'lucide-react'
import { useState } from 'react'
import { type Panel, stayAt } from '../state/address.ts'
import { FoundMessages } from './found-messages.tsx'
import { PanelHead } from './panel-head.tsx'
import { useMessageSearch } from './use-message-search.ts'
import { useWordsInAddress } from './use-words-in-address.ts'

type Searching = Extract<Panel, { kind: 'search' }>

const places = [
  { value: 'here', label: 'This conversation' },
  { value: 'everywhere', label: 'Everywhere' },
]

/** Finds messages, in one conversation or in all. What is searched for is in the address, to come back to. */
export function SearchPanel({ panel, to }: { panel: Searching; to: To | undefined }) {
  const [words, setWords] = useState(panel.words ?? '')
  const isEverywhere = panel.everywhere === true || to === undefined
  const search = useMessageSearch(words, isEverywhere ? undefined : to)
  const move = (changes: Omit<Searching, 'kind'>) =>
    stayAt({ ...(to && { to }), panel: { ...panel, ...changes, kind: 'search' } })

  useWordsInAddress({
    ...{ named: panel.words ?? '', searched: search.words },
    search: setWords,
    name: (sought) => move({ words: sought }),
  })

  return (
    <>
      <PanelHead title="Search" />
      <Stack p="md" gap="sm" role="search">
        <TextInput
          aria-label="Search messages"
          placeholder="Words to look for"
          type="search"
          leftSection={<Search size={16} aria-hidden />}
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
          autoFocus
        />
        {to && (
          <SegmentedControl
            data={places}
            value={isEverywhere ? 'everywhere' : 'here'}
            onChange={(value) => move({ everywhere: value === 'everywhere' })}
            aria-label="Where to search"
          />
        )}
      </Stack>
      <ScrollArea flex={1} mih={0} type="auto">
        <FoundMessages search={search} panel={panel} />
      </ScrollArea>
    </>
  )
}
