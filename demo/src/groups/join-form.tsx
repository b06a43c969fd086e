import { Button, Group, PasswordInput } from '@mantine/core'
import { useState } from 'react'

interface JoinFormProps {
  name: string
  isBusy: boolean
  join(password: string): Promise<void>
}

/** Asks for the password of a group. */
export function JoinForm({ name, isBusy, join }: JoinFormProps) {
  const [password, setPassword] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void join(password)
      }}
    >
      <Group gap="xs" pb="xs" align="flex-end" wrap="nowrap">
        <PasswordInput
          flex={1}
          label={`Password of ${name}`}
          autoComplete="off"
          autoFocus
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <Button type="submit" loading={isBusy}>
          Join
        </Button>
      </Group>
    </form>
  )
}
