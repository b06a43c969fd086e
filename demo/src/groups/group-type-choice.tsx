import { Radio, Stack } from '@mantine/core'
import type { GroupType } from './create-group.ts'

const choices: { value: GroupType; label: string; description: string }[] = [
  { value: 'public', label: 'Public', description: 'Everybody can find it and join.' },
  { value: 'password', label: 'With a password', description: 'Everybody can find it; who knows the password joins.' },
  { value: 'private', label: 'Private', description: 'Only members know of it; they are added.' },
]

export function GroupTypeChoice({ type, change }: { type: GroupType; change(type: GroupType): void }) {
  return (
    <Radio.Group label="Who may join?" value={type} onChange={(value) => change(value as GroupType)}>
      <Stack gap="xs" mt={6}>
        {choices.map((choice) => (
          <Radio key={choice.value} {...choice} />
        ))}
      </Stack>
    </Radio.Group>
  )
}
