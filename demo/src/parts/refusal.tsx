import { Alert } from '@mantine/core'

/** Why something was not done. */
export function Refusal({ error }: { error: string | undefined }) {
  if (error === undefined) return null
  return (
    <Alert color="red" variant="light" p="xs" role="alert">
      {error}
    </Alert>
  )
}
