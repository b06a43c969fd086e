import { Button, Center, Group, Skeleton, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** What every list shows before it has something, when there is nothing, and when it could not be fetched. */

export function Loading({ what, rows = 6 }: { what: string; rows?: number }) {
  return (
    <Stack p="md" gap="sm" role="status" aria-label={`Loading ${what}`}>
      {Array.from({ length: rows }, (_, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same, and stay where they are.
        <Skeleton key={n} height={40} radius="md" width={`${90 - ((n * 17) % 40)}%`} />
      ))}
    </Stack>
  )
}

export function Empty({ what, children }: { what: string; children?: ReactNode }) {
  return (
    <Center h="100%" p="lg">
      <Stack align="center" gap="sm">
        <Text c="var(--quiet)" ta="center">
          {what}
        </Text>
        {children}
      </Stack>
    </Center>
  )
}

interface FailedProps {
  what: string
  retry?: (() => void) | undefined
  leave?: () => void
}

export function Failed({ what, retry, leave }: FailedProps) {
  return (
    <Center h="100%" p="lg">
      <Stack align="center" gap="sm" role="alert">
        <Text ta="center">{what}</Text>
        <Group>
          {retry && <Button onClick={retry}>Try again</Button>}
          {leave && (
            <Button variant="default" onClick={leave}>
              Be somebody else
            </Button>
          )}
        </Group>
      </Stack>
    </Center>
  )
}
