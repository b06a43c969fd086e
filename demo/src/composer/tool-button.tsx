import { ActionIcon, Tooltip } from '@mantine/core'
import type { LucideIcon } from 'lucide-react'
import type { Ref } from 'react'

interface ToolButtonProps {
  label: string
  icon: LucideIcon
  type?: 'button' | 'submit'
  variant?: 'subtle' | 'filled'
  disabled?: boolean
  onClick?(): void
  ref?: Ref<HTMLButtonElement>
}

/** A sign that says what it does to those who point at it, focus it or hear it. */
export function ToolButton({ label, icon: Icon, variant = 'subtle', type = 'button', ...more }: ToolButtonProps) {
  const colour = variant === 'subtle' ? { color: 'gray', c: 'var(--quiet)' } : {}
  return (
    <Tooltip label={label} openDelay={400} events={{ hover: true, focus: true, touch: false }}>
      <ActionIcon {...{ variant, type, size: 36, 'aria-label': label }} {...colour} {...more}>
        <Icon size={20} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}
