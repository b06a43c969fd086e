import { Button, Group, Modal, Text } from '@mantine/core'
import type { Message } from '@parley/sdk/api'
import { summaryOf } from './content.ts'
import { useTalk } from './talk.tsx'

export function DeleteDialog({ message, close }: { message: Message; close(): void }) {
  const { conversation, act } = useTalk()

  function remove(): void {
    act(conversation.delete(message.id))
    close()
  }

  return (
    <Modal opened onClose={close} title="Delete this message for everybody?" centered returnFocus={false}>
      <Text lineClamp={4} dir="auto" c="var(--quiet)" mb="md">
        {summaryOf(message)}
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={close}>
          Keep
        </Button>
        <Button color="red.9" onClick={remove}>
          Delete
        </Button>
      </Group>
    </Modal>
  )
}
