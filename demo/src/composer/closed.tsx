import { Button, PasswordInput, Text } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useChat } from '../state/chat.tsx'
import { useAction } from '../state/use-action.ts'
import { useStore } from '../state/use-store.ts'
import styles from './closed.module.css'

/** What stands in the place of the composer for those who cannot write. */

export function BlockedNotice({ uid }: { uid: string }) {
  const { client } = useChat()
  const { items } = useStore(client.blocked)
  const name = items.find((user) => user.uid === uid)?.name ?? uid
  const { run, isBusy, error } = useAction()
  return (
    <div className={styles.closed}>
      <Text>
        You have blocked <bdi>{name}</bdi>.
      </Text>
      <Button variant="default" loading={isBusy} onClick={() => run(() => client.unblock(uid))}>
        Unblock
      </Button>
      <Problem text={error} />
    </div>
  )
}

export function JoinNotice({ guid }: { guid: string }) {
  const { client } = useChat()
  const group = client.group(guid)
  const details = useStore(group.details)
  const [password, setPassword] = useState('')
  const { run, isBusy, error } = useAction()
  const mayJoin = details !== undefined && details.type !== 'private'

  function submit(event: FormEvent): void {
    event.preventDefault()
    void run(() => group.join(password || undefined))
  }

  return (
    <form className={styles.closed} onSubmit={submit}>
      <Text>
        You are not a member of this group
        {details?.type === 'private' ? ', and it takes members by invitation only.' : '.'}
      </Text>
      {details?.type === 'password' && (
        <PasswordInput
          {...{ 'aria-label': 'Password of the group', placeholder: 'Password', autoComplete: 'off' }}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      )}
      {mayJoin && (
        <Button type="submit" loading={isBusy}>
          Join
        </Button>
      )}
      <Problem text={error} />
    </form>
  )
}

function Problem({ text }: { text: string | undefined }) {
  return (
    <div role="alert" className={styles.problem}>
      {text}
    </div>
  )
}
