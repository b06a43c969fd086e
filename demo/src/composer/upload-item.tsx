import { ActionIcon, CloseButton, Progress, Text } from '@mantine/core'
import type { UploadState } from '@parley/sdk'
import { File as FileIcon, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { sizeInWords } from '../parts/size-in-words.ts'
import type { DraftFile } from '../state/drafts.ts'
import { useStore } from '../state/use-store.ts'
import styles from './upload-item.module.css'

interface UploadItemProps {
  file: DraftFile
  /** Its message was sent, and waits for it. */
  isSent?: boolean
  remove(): void
  retry?(): void
}

export function UploadItem({ file: { file, upload, preview }, isSent = false, remove, retry }: UploadItemProps) {
  const state = useStore(upload)
  const isUnderWay = state.state === 'uploading'
  return (
    <li className={styles.item} data-failed={state.state === 'failed' || undefined}>
      <Picture preview={preview} />
      <div className={styles.words}>
        <Text truncate dir="auto" title={file.name}>
          {file.name}
        </Text>
        <Text size="xs" className={styles.state ?? ''} title={state.error?.message}>
          {inWords(state, isSent)}
        </Text>
        {isUnderWay && <Bar label={`Upload of ${file.name}`} {...state} />}
      </div>
      {state.state === 'failed' && retry && (
        <ActionIcon variant="subtle" aria-label={`Try ${file.name} again`} onClick={retry}>
          <RotateCw size={16} aria-hidden />
        </ActionIcon>
      )}
      {(!isSent || isUnderWay) && (
        <CloseButton aria-label={isSent ? `Do not send ${file.name}` : `Remove ${file.name}`} onClick={remove} />
      )}
    </li>
  )
}

function Picture({ preview }: { preview: string | undefined }) {
  const [isBroken, setIsBroken] = useState(false)
  if (preview && !isBroken) {
    return <img className={styles.picture} src={preview} alt="" onError={() => setIsBroken(true)} />
  }
  return (
    <span className={styles.picture}>
      <FileIcon size={20} aria-hidden />
    </span>
  )
}

function Bar({ label, loaded, total }: { label: string; loaded: number; total: number }) {
  return (
    <Progress.Root size={4} mt={4}>
      <Progress.Section value={percent(loaded, total)} aria-label={label} />
    </Progress.Root>
  )
}

function inWords({ state, loaded, total, error }: UploadState, isSent: boolean): string {
  if (state === 'failed') return error?.message ?? 'It could not be uploaded.'
  if (state === 'uploading') return `${percent(loaded, total)} % of ${sizeInWords(total)}`
  return isSent ? 'Sending' : sizeInWords(total)
}

const percent = (loaded: number, total: number) => (total === 0 ? 100 : Math.floor((loaded / total) * 100))
