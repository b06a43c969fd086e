import { FileButton } from '@mantine/core'
import { ArrowUp, Check, Mic, Paperclip } from 'lucide-react'
import { EmojiButton } from './emoji-button.tsx'
import { canRecord } from './recorder.ts'
import { ToolButton } from './tool-button.tsx'
import styles from './tools.module.css'

interface ToolsProps {
  isEdit: boolean
  isEmpty: boolean
  attach(files: File[]): void
  insert(emoji: string): void
  record(): void
}

/** What stands at the end of the box. There is either something to send, or room for a voice note. */
export function Tools({ isEdit, isEmpty, attach, insert, record }: ToolsProps) {
  return (
    <div className={styles.tools}>
      {!isEdit && (
        <FileButton multiple onChange={attach}>
          {(props) => <ToolButton label="Attach files" icon={Paperclip} {...props} />}
        </FileButton>
      )}
      <EmojiButton choose={insert} />
      {isEmpty && !isEdit && canRecord() ? (
        <ToolButton label="Record a voice note" icon={Mic} onClick={record} />
      ) : (
        <ToolButton
          {...{ label: isEdit ? 'Save' : 'Send', icon: isEdit ? Check : ArrowUp, type: 'submit', variant: 'filled' }}
          disabled={isEmpty}
        />
      )}
    </div>
  )
}
