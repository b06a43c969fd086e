import { Button, Group, Stack, Text } from '@mantine/core'
import { useAction } from '../state/use-action.ts'
import { Dialog } from './dialog.tsx'
import { Refusal } from './refusal.tsx'

export interface Question {
  title: string
  text: string
  /** What the button says that does it. */
  yes: string
  act(): Promise<unknown>
}

/** Asks before something is done that cannot be undone at once. */
export function ConfirmDialog({ question, close }: { question: Question | undefined; close(): void }) {
  return (
    <Dialog isOpen={question !== undefined} title={question?.title ?? ''} close={close}>
      {question && <Asked question={question} close={close} />}
    </Dialog>
  )
}

function Asked({ question: { text, yes, act }, close }: { question: Question; close(): void }) {
  const { run, isBusy, error } = useAction()
  return (
    <Stack>
      <Text>{text}</Text>
      <Refusal error={error} />
      <Group justify="flex-end">
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button color="red.8" loading={isBusy} onClick={async () => (await run(act)) && close()}>
          {yes}
        </Button>
      </Group>
    </Stack>
  )
}
