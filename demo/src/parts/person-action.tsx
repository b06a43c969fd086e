import { Button, Text } from '@mantine/core'
import { PersonAvatar } from './person-avatar.tsx'

interface PersonActionProps {
  name: string
  /** What the button says, and to those who do not see whose row it is in. */
  label: string
  fullLabel: string
  isBusy: boolean
  run(): void
}

/** Somebody, and the one thing that can be done about them; the row around it is the list's. */
export function PersonAction({ name, label, fullLabel, isBusy, run }: PersonActionProps) {
  return (
    <>
      <PersonAvatar name={name} />
      <Text flex={1} truncate>
        <bdi>{name}</bdi>
      </Text>
      <Button size="xs" variant="default" loading={isBusy} aria-label={fullLabel} onClick={run}>
        {label}
      </Button>
    </>
  )
}
