import { Text, UnstyledButton } from '@mantine/core'
import type { LiveGroup } from '@parley/sdk'
import type { Member } from '@parley/sdk/api'
import type { Standing } from '../groups/rights.ts'
import type { Question } from '../parts/confirm-dialog.tsx'
import { DottedAvatar } from '../parts/person-avatar.tsx'
import { goTo } from '../state/address.ts'
import { useChat } from '../state/chat.tsx'
import { MemberMenu } from './member-menu.tsx'
import styles from './panel-list.module.css'

export interface MemberRowProps {
  group: LiveGroup
  member: Member
  isOwner: boolean
  own: Standing
  ask(question: Question): void
}

const words = { admin: 'Admin', moderator: 'Moderator', participant: '' }

export function MemberRow(props: MemberRowProps) {
  const { group, member, isOwner } = props
  const { me } = useChat()
  const { uid, name, status, scope, statusMessage } = member
  const isSelf = uid === me.uid
  const show = () => goTo({ to: { group: group.guid }, panel: { kind: 'person', uid } })
  return (
    <li className={styles.row}>
      <UnstyledButton className={styles.person ?? ''} onClick={show}>
        <DottedAvatar name={name} isOnline={status === 'available'} />
        <span className={styles.words}>
          <Text component="span" display="block" truncate>
            <bdi>{name}</bdi>
            {isSelf && ' (you)'}
          </Text>
          <Text component="span" display="block" truncate dir="auto" size="xs" c="var(--quiet)">
            {[isOwner ? 'Owner' : words[scope], statusMessage].filter(Boolean).join(' · ')}
          </Text>
        </span>
      </UnstyledButton>
      {!isSelf && <MemberMenu {...props} />}
    </li>
  )
}
