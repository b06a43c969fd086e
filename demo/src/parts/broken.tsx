import { Button, Stack, Text, Title } from '@mantine/core'

/** What is left of the page when something in it has gone wrong that nobody has foreseen. */
export function Broken() {
  return (
    <Stack component="main" align="center" justify="center" gap="sm" h="100%" p="lg">
      <Title order={1} size="h3">
        Something went wrong
      </Title>
      <Text ta="center" role="alert">
        The page cannot go on. What you have written is kept.
      </Text>
      <Button onClick={() => location.reload()}>Load again</Button>
    </Stack>
  )
}
