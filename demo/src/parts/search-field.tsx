import { TextInput } from '@mantine/core'
import { Search } from 'lucide-react'

interface SearchFieldProps {
  label: string
  placeholder: string
  words: string
  change(words: string): void
}

/** The first field of a dialog in which something is found. */
export function SearchField({ label, placeholder, words, change }: SearchFieldProps) {
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      leftSection={<Search size={16} aria-hidden />}
      value={words}
      onChange={(event) => change(event.currentTarget.value)}
      data-autofocus
    />
  )
}
