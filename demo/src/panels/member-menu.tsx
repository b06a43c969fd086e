import { ActionIcon, Menu } from '@mantine/core'
import { Ban, Crown, Ellipsis, Shield, UserMinus } from 'lucide-react'
import { mayHandOver, mayRemove, otherScopes } from '../groups/rights.ts'
import { questionsAbout } from './member-questions.ts'
import type { MemberRowProps } from './member-row.tsx'

const roles = { admin: 'Make admin', moderator: 'Make moderator', participant: 'Make participant' }

/** What the user may do to a member; nothing, if that is nothing. */
export function MemberMenu({ group, member, isOwner, own, ask }: MemberRowProps) {
  const other = { isOwner, scope: member.scope }
  const scopes = otherScopes(own, other)
  const isRemovable = mayRemove(own, other)
  if (scopes.length === 0 && !isRemovable && !mayHandOver(own)) return null
  const questions = questionsAbout(group, member)
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${member.name}`}>
          <Ellipsis size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {scopes.map((scope) => (
          <Menu.Item key={scope} leftSection={<Shield size={16} />} onClick={() => ask(questions.scope(scope))}>
            {roles[scope]}
          </Menu.Item>
        ))}
        {mayHandOver(own) && (
          <Menu.Item leftSection={<Crown size={16} />} onClick={() => ask(questions.handOver)}>
            Make owner
          </Menu.Item>
        )}
        {isRemovable && (
          <>
            <Menu.Divider />
            <Menu.Item leftSection={<UserMinus size={16} />} onClick={() => ask(questions.kick)}>
              Remove
            </Menu.Item>
            <Menu.Item leftSection={<Ban size={16} />} onClick={() => ask(questions.ban)}>
              Ban
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
