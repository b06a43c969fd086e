import { VisuallyHidden } from '@mantine/core'
import type { Attachment as File } from '@parley/sdk/api'
import { FileDown } from 'lucide-react'
import { useState } from 'react'
import { sizeInWords } from '../parts/size-in-words.ts'
import styles from './attachment.module.css'
import { useTabIndex } from './inside.ts'
import { safeAddress } from './text-parts.ts'

/** A file of a message: shown or played, where that can be done, and otherwise to be fetched. */
export function Attachment({ file }: { file: File }) {
  const [isBroken, setIsBroken] = useState(false)
  const url = safeAddress(file.url)
  const kind = file.mimeType.split('/')[0]
  const fails = () => setIsBroken(true)
  if (!url || isBroken) return <FileCard file={file} url={url} />
  if (kind === 'image') return <Picture file={file} url={url} fails={fails} />
  if (kind === 'audio' || kind === 'video') return <Player kind={kind} file={file} url={url} fails={fails} />
  return <FileCard file={file} url={url} />
}

interface ShownProps {
  file: File
  url: string
  fails(): void
}

/** Its box is there before it is, so that nothing moves when it comes. */
function Picture({ file, url, fails }: ShownProps) {
  return (
    <a className={styles.picture} href={url} target="_blank" rel="noopener noreferrer" tabIndex={useTabIndex()}>
      <img src={thumbnailOf(url)} alt={file.name} loading="lazy" decoding="async" onError={fails} />
    </a>
  )
}

/** The server has a small one of every picture that it keeps. */
function thumbnailOf(url: string): string {
  const { protocol, search } = new URL(url)
  return protocol !== 'blob:' && search === '' ? `${url}?thumbnail` : url
}

function Player({ kind: Element, file, url, fails }: ShownProps & { kind: 'audio' | 'video' }) {
  return (
    <Element
      className={styles[Element]}
      src={url}
      controls
      preload="metadata"
      aria-label={file.name}
      onError={fails}
      tabIndex={useTabIndex()}
    />
  )
}

function FileCard({ file, url }: { file: File; url: string | undefined }) {
  const tabIndex = useTabIndex()
  const inside = (
    <>
      <FileDown size={20} aria-hidden />
      <span className={styles.about}>
        <bdi className={styles.name}>{file.name}</bdi>
        <span className={styles.size}>{aboutFile(file)}</span>
      </span>
    </>
  )
  if (!url) return <div className={styles.card}>{inside}</div>
  return (
    <a
      className={styles.card}
      href={url}
      download={file.name}
      target="_blank"
      rel="noopener noreferrer"
      tabIndex={tabIndex}
    >
      <VisuallyHidden>Download </VisuallyHidden>
      {inside}
    </a>
  )
}

function aboutFile({ extension, size }: File): string {
  return [extension.toUpperCase(), size > 0 && sizeInWords(size)].filter(Boolean).join(' · ')
}
