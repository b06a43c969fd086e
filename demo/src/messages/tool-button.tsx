import { VisuallyHidden } from '@mantine/core'
import type { LucideIcon } from 'lucide-react'
import type { ComponentProps } from 'react'
import { useTabIndex } from './inside.ts'
import styles from './message-tools.module.css'

interface ToolButtonProps extends ComponentProps<'button'> {
  label: string
  icon: LucideIcon
}

/** One of the tools of a message. What opens at it gives it a `ref` and further properties. */
export function ToolButton({ label, icon: Icon, ...more }: ToolButtonProps) {
  const tabIndex = useTabIndex()
  return (
    <button {...more} type="button" className={styles.tool} title={label} tabIndex={tabIndex}>
      <Icon size={16} aria-hidden />
      <VisuallyHidden>{label}</VisuallyHidden>
    </button>
  )
}
