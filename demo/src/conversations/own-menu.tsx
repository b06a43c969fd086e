import { Menu, Text, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { ChevronDown, LogOut, Smile, UserRoundX } from 'lucide-react'
import { DottedAvatar } from '../parts/person-avatar.tsx'
import { NotifyItem } from '../shell/notify-item.tsx'
import { useChat } from '../state/chat.tsx'
import { useStore } from '../state/use-store.ts'
import type { ListDialog } from './conversation-list.tsx'
import styles from './own-menu.module.css'

/** The user's own name, and what is theirs to set. */
export function OwnMenu({ open }: { open(dialog: ListDialog): void }) {
  const { leave } = useChat()
  return (
    <Menu position="bottom-start" width={240}>
      <Menu.Target>
        <OwnName />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Smile size={16} />} onClick={() => open('status')}>
          Status message
        </Menu.Item>
        <NotifyItem />
        <Menu.Item leftSection={<UserRoundX size={16} />} onClick={() => open('blocked')}>
          Blocked people
        </Menu.Item>
        <Menu.Divider />
        <ThemeItems />
        <Menu.Divider />
        <Menu.Item leftSection={<LogOut size={16} />} onClick={leave}>
          Be somebody else
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function OwnName(props: object) {
  const { client, me } = useChat()
  const { name, statusMessage } = useStore(client.me) ?? me
  const { state } = useStore(client.connection)
  return (
    <UnstyledButton {...props} className={styles.own ?? ''}>
      <DottedAvatar name={name} isOnline={state === 'connected'} />
      <span className={styles.words}>
        <Text component="span" display="block" fw={600} truncate>
          <bdi>{name}</bdi>
        </Text>
        {typeof statusMessage === 'string' && statusMessage !== '' && (
          <Text component="span" display="block" size="xs" c="var(--quiet)" truncate>
            <bdi>{statusMessage}</bdi>
          </Text>
        )}
      </span>
      <ChevronDown size={14} aria-hidden />
    </UnstyledButton>
  )
}

function ThemeItems() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Menu.RadioGroup value={colorScheme} onChange={(value) => setColorScheme(value as typeof colorScheme)}>
      <Menu.RadioItem value="auto">As the system</Menu.RadioItem>
      <Menu.RadioItem value="light">Light</Menu.RadioItem>
      <Menu.RadioItem value="dark">Dark</Menu.RadioItem>
    </Menu.RadioGroup>
  )
}
