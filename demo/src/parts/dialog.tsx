import { Modal } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { ReactNode } from 'react'
import styles from './dialog.module.css'

interface DialogProps {
  isOpen: boolean
  title: string
  close(): void
  children: ReactNode
}

/** In the middle of the page; all of it on a phone. */
export function Dialog({ isOpen, title, close, children }: DialogProps) {
  const isNarrow = useMediaQuery('(max-width: 599px)')
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={title}
      fullScreen={isNarrow}
      closeButtonProps={{ 'aria-label': 'Close' }}
      centered
      classNames={styles}
    >
      {children}
    </Modal>
  )
}
