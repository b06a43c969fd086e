import { Button } from '@mantine/core'

/** At the end of a list that goes on. */
export function LoadMore({ isLoading, load }: { isLoading: boolean; load(): void }) {
  return (
    <Button variant="subtle" loading={isLoading} onClick={load} mx="md" my="xs">
      Show more
    </Button>
  )
}
