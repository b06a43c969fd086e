import { Button, Group as Row, Stack, Text } from '@mantine/core'
import type { LiveGroup } from '@parley/sdk'
import type { Group } from '@parley/sdk/api'
import { LogOut, Pencil, Trash2, UserPlus } from 'lucide-react'
import { useState } from 'react'
import { AddMembersDialog } from '../groups/add-members-dialog.tsx'
import { EditGroupDialog } from '../groups/edit-group-dialog.tsx'
import { mayAdd, mayDelete, mayEdit, mayLeave, type Standing } from '../groups/rights.ts'
import type { Question } from '../parts/confirm-dialog.tsx'
import { GroupAvatar } from '../parts/group-avatar.tsx'
import { goTo } from '../state/address.ts'

interface GroupSummaryProps {
  group: LiveGroup
  details: Group
  own: Standing
  ask(question: Question): void
}

const types = { public: 'Public group', password: 'Group with a password', private: 'Private group' }

export function GroupSummary({ group, details, own, ask }: GroupSummaryProps) {
  const [dialog, open] = useState<'add' | 'edit'>()
  const { name, type, description } = details

  /** What takes the user out of the group takes them out of its conversation, too. */
  const goAfter = (act: () => Promise<void>) => async () => {
    await act()
    goTo({})
  }
  const leaving: Question = {
    title: `Leave ${name}?`,
    text: 'You will not hear of it any more, until you come back.',
    yes: 'Leave',
    act: goAfter(group.leave),
  }
  const deleting: Question = {
    title: `Delete ${name}?`,
    text: 'The group and everything said in it are gone, for everybody.',
    yes: 'Delete the group',
    act: goAfter(group.delete),
  }

  return (
    <Stack gap="sm" p="md">
      <Row wrap="nowrap">
        <GroupAvatar type={type} size={48} />
        <div style={{ minWidth: 0 }}>
          <Text fw={600} truncate>
            <bdi>{name}</bdi>
          </Text>
          <Text size="xs" c="var(--quiet)">
            {types[type]}
          </Text>
        </div>
      </Row>
      {description && <Text dir="auto">{description}</Text>}
      <Row gap="xs">
        {mayAdd(own) && (
          <Button size="xs" leftSection={<UserPlus size={14} aria-hidden />} onClick={() => open('add')}>
            Add
          </Button>
        )}
        {mayEdit(own) && (
          <Button
            size="xs"
            variant="default"
            leftSection={<Pencil size={14} aria-hidden />}
            onClick={() => open('edit')}
          >
            Edit
          </Button>
        )}
        {mayLeave(own) && (
          <Button
            size="xs"
            variant="default"
            leftSection={<LogOut size={14} aria-hidden />}
            onClick={() => ask(leaving)}
          >
            Leave
          </Button>
        )}
        {mayDelete(own) && (
          <Button
            size="xs"
            variant="default"
            leftSection={<Trash2 size={14} aria-hidden />}
            onClick={() => ask(deleting)}
          >
            Delete
          </Button>
        )}
      </Row>
      <AddMembersDialog group={group} isOpen={dialog === 'add'} close={() => open(undefined)} />
      <EditGroupDialog group={group} details={details} isOpen={dialog === 'edit'} close={() => open(undefined)} />
    </Stack>
  )
}
