import { TextInput } from '@mantine/core'

/** The first field of a form about a group. */
export function GroupNameField({ name, change }: { name: string; change(name: string): void }) {
  return (
    <TextInput
      label="Name"
      required
      maxLength={100}
      dir="auto"
      value={name}
      onChange={(event) => change(event.currentTarget.value)}
      data-autofocus
    />
  )
}
