import { Menu } from '@mantine/core'
import { Bell, BellOff } from 'lucide-react'
import { startNotifying, stopNotifying, useNotifying } from './notifying.ts'

/** Turns notifications on this desktop on and off. */
export function NotifyItem() {
  const state = useNotifying()
  if (state === 'unavailable') return null
  if (state === 'on') {
    return (
      <Menu.Item leftSection={<BellOff size={16} />} onClick={stopNotifying}>
        Stop notifications
      </Menu.Item>
    )
  }
  return (
    <Menu.Item leftSection={<Bell size={16} />} disabled={state === 'refused'} onClick={startNotifying}>
      {state === 'refused' ? 'The browser blocks notifications' : 'Notify me on this desktop'}
    </Menu.Item>
  )
}
