import { Button, Group, Stack, Text } from '@mantine/core'
import type { User } from '@parley/sdk/api'
import { MessageCircle, UserRoundCheck, UserRoundX } from 'lucide-react'
import { useCallback } from 'react'
import { LastSeen } from '../parts/last-seen.tsx'
import { LiveAvatar } from '../parts/person-avatar.tsx'
import { Refusal } from '../parts/refusal.tsx'
import { Failed, Loading } from '../parts/states.tsx'
import { goTo } from '../state/address.ts'
import { useChat } from '../state/chat.tsx'
import { useAction } from '../state/use-action.ts'
import { useLoaded } from '../state/use-loaded.ts'
import { useStore } from '../state/use-store.ts'
import { PanelHead } from './panel-head.tsx'

/** Who somebody is. */
export function PersonPanel({ uid }: { uid: string }) {
  const { client } = useChat()
  const { items: blocked } = useStore(client.blocked)
  // Fetched again when somebody is blocked or not any more, here or on another device.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the person tells, and the list tells when.
  const load = useCallback(() => client.users.get(uid), [client, uid, blocked])
  const loaded = useLoaded(load)
  return (
    <>
      <PanelHead title="Profile" />
      {loaded.status === 'loading' && <Loading what="the profile" rows={3} />}
      {loaded.status === 'failed' && <Failed what="The profile could not be fetched." retry={loaded.retry} />}
      {loaded.status === 'ready' && <Profile person={loaded.value} />}
    </>
  )
}

function Profile({ person }: { person: User }) {
  const { me } = useChat()
  const { uid, name, statusMessage, metadata = {} } = person
  const { title, office } = metadata
  const about = [title, office].filter((each) => typeof each === 'string').join(' · ')
  return (
    <Stack p="lg" align="center" gap="xs">
      <LiveAvatar uid={uid} name={name} size={88} />
      <Text size="xl" fw={600} ta="center" dir="auto">
        {name}
      </Text>
      <Text c="var(--quiet)">
        <LastSeen uid={uid} />
      </Text>
      {about && <Text dir="auto">{about}</Text>}
      {statusMessage && (
        <Text c="var(--quiet)" ta="center" dir="auto">
          {statusMessage}
        </Text>
      )}
      {uid !== me.uid && <ProfileButtons person={person} />}
    </Stack>
  )
}

function ProfileButtons({ person: { uid, blockedByMe } }: { person: User }) {
  const { client } = useChat()
  const { run, isBusy, error } = useAction()
  const Icon = blockedByMe ? UserRoundCheck : UserRoundX
  return (
    <>
      <Group justify="center" mt="sm">
        <Button leftSection={<MessageCircle size={16} aria-hidden />} onClick={() => goTo({ to: { user: uid } })}>
          Write
        </Button>
        <Button
          variant="default"
          loading={isBusy}
          leftSection={<Icon size={16} aria-hidden />}
          onClick={() => run(() => (blockedByMe ? client.unblock(uid) : client.block(uid)))}
        >
          {blockedByMe ? 'Unblock' : 'Block'}
        </Button>
      </Group>
      <Refusal error={error} />
    </>
  )
}
