import { type RefObject, useEffect, useEffectEvent, useState } from 'react'

export interface Dropped {
  files: readonly File[]
  hasFolders: boolean
}

/** Takes files that are dropped anywhere on the part of the page that the form stands in; tells while some are above it. */
export function useFileDrop(form: RefObject<HTMLElement | null>, take: (dropped: Dropped) => void): boolean {
  const [isOver, setIsOver] = useState(false)
  const takeNow = useEffectEvent(take)

  useEffect(() => {
    const place = form.current?.closest<HTMLElement>('main, aside')
    if (!place) return
    const show = (isAbove: boolean) => {
      setIsOver(isAbove)
      place.toggleAttribute('data-dropping', isAbove)
    }
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      show(true)
    }
    const leave = (event: DragEvent) => {
      if (!place.contains(event.relatedTarget as Node | null)) show(false)
    }
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      show(false)
      takeNow(droppedIn(event))
    }
    const listening = new AbortController()
    const { signal } = listening
    place.addEventListener('dragover', over, { signal })
    place.addEventListener('dragleave', leave, { signal })
    place.addEventListener('drop', drop, { signal })
    return () => {
      listening.abort()
      show(false)
    }
  }, [form])

  return isOver
}

/** Elsewhere nothing happens: browsers would leave the page to show the file. */
export function refuseStrayDrops(): void {
  for (const name of ['dragover', 'drop'] as const) {
    window.addEventListener(name, (event) => {
      if (event.defaultPrevented || !hasFiles(event)) return
      event.preventDefault()
      if (event.dataTransfer) event.dataTransfer.dropEffect = 'none'
    })
  }
}

const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') ?? false

function droppedIn({ dataTransfer }: DragEvent): Dropped {
  const items = [...(dataTransfer?.items ?? [])].filter(({ kind }) => kind === 'file')
  const isFolder = (item: DataTransferItem) => item.webkitGetAsEntry()?.isDirectory ?? false
  const files = items.filter((item) => !isFolder(item)).map((item) => item.getAsFile())
  return { files: files.filter((file) => file !== null), hasFolders: items.some(isFolder) }
}
