import { Avatar } from '@mantine/core'
import { KeyRound, Lock, Users } from 'lucide-react'

interface GroupAvatarProps {
  type?: 'public' | 'password' | 'private' | undefined
  size?: number
}

const icons = { public: Users, password: KeyRound, private: Lock }

/** Square, where people are round; the picture tells who may join. */
export function GroupAvatar({ type = 'public', size = 40 }: GroupAvatarProps) {
  const Icon = icons[type]
  return (
    <Avatar size={size} radius="md" variant="light" color="cyan" alt="" aria-hidden>
      <Icon size={size / 2} />
    </Avatar>
  )
}
