import { useEffect, useRef, useState } from 'react'
import { type Recorder, startRecorder } from './recorder.ts'

export type VoiceNoteState =
  | { state: 'asking' }
  | { state: 'recording'; recorder: Recorder }
  | { state: 'recorded'; file: File; address: string }
  | { state: 'failed'; why: string }

/** Records from being shown until it is stopped; the microphone is let go with whatever is shown. */
export function useVoiceNote() {
  const [note, setNote] = useState<VoiceNoteState>({ state: 'asking' })
  const current = useRef<Recorder>(undefined)

  useEffect(() => {
    let isShown = true
    startRecorder().then(
      (recorder) => {
        if (!isShown) return recorder.drop()
        current.current = recorder
        setNote({ state: 'recording', recorder })
      },
      (error) => isShown && setNote({ state: 'failed', why: reasonOf(error) }),
    )
    return () => {
      isShown = false
      current.current?.drop()
      current.current = undefined
    }
  }, [])

  // The address holds the recording in memory until it is taken back.
  const address = note.state === 'recorded' ? note.address : undefined
  useEffect(() => {
    return () => {
      if (address !== undefined) URL.revokeObjectURL(address)
    }
  }, [address])

  async function stop(): Promise<void> {
    if (note.state !== 'recording') return
    const file = await note.recorder.stop()
    // Whoever has left meanwhile, or was faster, has no use for it.
    if (current.current !== note.recorder) return
    current.current = undefined
    setNote({ state: 'recorded', file, address: URL.createObjectURL(file) })
  }
  return { note, stop }
}

function reasonOf(error: unknown): string {
  const { name } = Object(error) as { name?: string }
  if (name === 'NotAllowedError') return 'The browser does not let this page use the microphone.'
  return name === 'NotFoundError' ? 'There is no microphone.' : 'The microphone cannot be used now.'
}
