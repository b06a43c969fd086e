import type { Conversation } from '@parley/sdk'
import type { Draft } from '../state/drafts.ts'
import { removeFile, retryFile } from './draft-files.ts'
import { UploadItem } from './upload-item.tsx'
import styles from './upload-tray.module.css'

interface UploadTrayProps {
  draftKey: string
  draft: Draft
  conversation: Conversation
}

/** The files of the draft, and those of messages that wait for them. */
export function UploadTray({ draftKey, draft: { files, leaving, edit }, conversation }: UploadTrayProps) {
  // An edit has no files; they wait with what was written before it.
  const own = edit ? [] : files
  if (own.length + leaving.length === 0) return null
  return (
    <ul className={styles.tray} aria-label="Files">
      {leaving.map((file) => (
        <UploadItem key={file.id} file={file} isSent remove={() => file.upload.abort()} />
      ))}
      {own.map((file) => (
        <UploadItem
          key={file.id}
          file={file}
          remove={() => removeFile(draftKey, file)}
          retry={() => retryFile(draftKey, conversation, file)}
        />
      ))}
    </ul>
  )
}
