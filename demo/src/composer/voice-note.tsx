import { Text } from '@mantine/core'
import { ArrowUp, Square, Trash2 } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { Recorder } from './recorder.ts'
import { ToolButton } from './tool-button.tsx'
import { useVoiceNote, type VoiceNoteState } from './use-voice-note.ts'
import styles from './voice-note.module.css'

// Nobody listens longer, and a forgotten microphone should not stay on.
const secondsMax = 600

/** In the place of the composer: says something, hears it again, and sends it or does not. */
export function VoiceNote({ send, close }: { send(file: File): void; close(): void }) {
  const { note, stop } = useVoiceNote()

  function sendNote(): void {
    if (note.state !== 'recorded') return
    send(note.file)
    close()
  }

  return (
    <fieldset className={styles.note} aria-label="Voice note">
      <ToolButton label="Cancel" icon={Trash2} onClick={close} />
      <div className={styles.middle}>
        <Middle note={note} stop={stop} />
      </div>
      {note.state === 'recording' && <ToolButton label="Stop" icon={Square} variant="filled" onClick={stop} />}
      {note.state === 'recorded' && <ToolButton label="Send" icon={ArrowUp} variant="filled" onClick={sendNote} />}
    </fieldset>
  )
}

function Middle({ note, stop }: { note: VoiceNoteState; stop(): void }) {
  if (note.state === 'asking') return <Text>Waiting for the microphone …</Text>
  if (note.state === 'failed') return <Text role="alert">{note.why}</Text>
  if (note.state === 'recording') return <Recording recorder={note.recorder} stop={stop} />
  // biome-ignore lint/a11y/useMediaCaption: nobody has written down what was said a moment ago.
  return <audio controls src={note.address} className={styles.player} aria-label="What you have said" />
}

/** How long, and how loud. The bar is moved without React: it changes with every frame. */
function Recording({ recorder, stop }: { recorder: Recorder; stop(): void }) {
  const bar = useRef<HTMLDivElement>(null)
  const [seconds, setSeconds] = useState(0)

  useEffect(() => {
    const begun = performance.now()
    let frame = requestAnimationFrame(function draw() {
      bar.current?.style.setProperty('--level', String(recorder.level()))
      setSeconds(Math.floor((performance.now() - begun) / 1_000))
      frame = requestAnimationFrame(draw)
    })
    return () => cancelAnimationFrame(frame)
  }, [recorder])

  const isOver = seconds >= secondsMax
  useEffect(() => {
    if (isOver) stop()
  }, [isOver, stop])

  return (
    <>
      <Text className={styles.time ?? ''}>
        Recording {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, '0')}
      </Text>
      <div ref={bar} className={styles.level} aria-hidden />
    </>
  )
}
