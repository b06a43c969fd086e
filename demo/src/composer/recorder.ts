/** The microphone, from asking for it to a file. */

export interface Recorder {
  /** How loud it is now, from 0 to 1. */
  level(): number
  /** Ends, and hands out what was said. */
  stop(): Promise<File>
  /** Ends, and forgets it. */
  drop(): void
}

// The first that the browser writes.
const kinds = [
  { mimeType: 'audio/webm;codecs=opus', extension: 'webm' },
  { mimeType: 'audio/ogg;codecs=opus', extension: 'ogg' },
  { mimeType: 'audio/mp4', extension: 'm4a' },
]

export const canRecord = () => 'MediaRecorder' in window && navigator.mediaDevices !== undefined

/** Asks for the microphone; rejects where there is none, or the person says no. */
export async function startRecorder(): Promise<Recorder> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
  const kind = kinds.find(({ mimeType }) => MediaRecorder.isTypeSupported(mimeType))
  const recorder = new MediaRecorder(stream, kind && { mimeType: kind.mimeType })
  const meter = levelMeter(stream)
  const parts: Blob[] = []
  recorder.addEventListener('dataavailable', ({ data }) => parts.push(data))
  recorder.start()

  function end(): void {
    if (recorder.state === 'inactive') return
    recorder.stop()
    for (const track of stream.getTracks()) track.stop()
    meter.close()
  }

  return {
    level: meter.level,
    stop: () =>
      new Promise((resolve) => {
        const type = recorder.mimeType.split(';')[0] ?? ''
        const name = `Voice note.${kind?.extension ?? 'webm'}`
        recorder.addEventListener('stop', () => resolve(new File(parts, name, { type })))
        end()
      }),
    drop: end,
  }
}

function levelMeter(stream: MediaStream) {
  const audio = new AudioContext()
  const analyser = new AnalyserNode(audio, { fftSize: 512 })
  audio.createMediaStreamSource(stream).connect(analyser)
  const wave = new Float32Array(analyser.fftSize)
  return {
    level(): number {
      analyser.getFloatTimeDomainData(wave)
      const mean = wave.reduce((sum, each) => sum + each * each, 0) / wave.length
      // Speech is far from the loudest that a microphone can tell.
      return Math.min(Math.sqrt(mean) * 4, 1)
    },
    close: () => void audio.close(),
  }
}
