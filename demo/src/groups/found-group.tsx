import { Button, Group as Row, Text } from '@mantine/core'
import type { Group } from '@parley/sdk/api'
import { useState } from 'react'
import { GroupAvatar } from '../parts/group-avatar.tsx'
import { Refusal } from '../parts/refusal.tsx'
import { useChat } from '../state/chat.tsx'
import { useAction } from '../state/use-action.ts'
import { JoinForm } from './join-form.tsx'

/** A group that was found, and the way into it. */
export function FoundGroup({ group, open }: { group: Group; open(): void }) {
  const { client } = useChat()
  const { run, isBusy, error } = useAction()
  const [isAsking, setAsking] = useState(false)
  const { guid, name, type, description, membersCount, hasJoined } = group

  async function join(password?: string): Promise<void> {
    const isIn = await run(() => client.group(guid).join(password))
    if (isIn) open()
  }

  return (
    <li>
      <Row wrap="nowrap" gap="sm" py={8}>
        <GroupAvatar type={type} />
        <span style={{ flex: 1, minWidth: 0 }}>
          <Text truncate>
            <bdi>{name}</bdi>
          </Text>
          <Text truncate size="xs" c="var(--quiet)" dir="auto">
            {[membersCount === 1 ? '1 member' : `${membersCount} members`, description].filter(Boolean).join(' · ')}
          </Text>
        </span>
        {hasJoined ? (
          <Button size="xs" variant="default" onClick={open} aria-label={`Open ${name}`}>
            Open
          </Button>
        ) : (
          <Button
            size="xs"
            loading={isBusy}
            aria-label={`Join ${name}`}
            aria-expanded={type === 'password' ? isAsking : undefined}
            onClick={() => (type === 'password' ? setAsking(!isAsking) : join())}
          >
            Join
          </Button>
        )}
      </Row>
      {isAsking && <JoinForm name={name} isBusy={isBusy} join={join} />}
      <Refusal error={error} />
    </li>
  )
}
