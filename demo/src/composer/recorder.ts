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
  try {
    return record(stream)
  } catch (error) {
    letGo(stream)
    throw error
  }
}

function record(stream: MediaStream): Recorder {
  const kind = kinds.find(({ mimeType }) => MediaRecorder.isTypeSupported(mimeType))
  const recorder = new MediaRecorder(stream, kind && { mimeType: kind.mimeType })
  const parts: Blob[] = []
  recorder.addEventListener('dataavailable', ({ data }) => parts.push(data))
  // It also ends by itself, as when the microphone is pulled out.
  const over = new Promise<void>((resolve) => {
    recorder.addEventListener('stop', () => resolve(), { once: true })
  })
  recorder.start()
  const meter = levelMeter(stream)
  void over.then(() => {
    letGo(stream)
    meter.close()
  })

  function end(): void {
    if (recorder.state !== 'inactive') recorder.stop()
  }

  return {
    level: meter.level,
    async stop() {
      end()
      await over
      const type = recorder.mimeType.split(';')[0] ?? ''
      return new File(parts, `Voice note.${kind?.extension ?? 'webm'}`, { type })
    },
    drop: end,
  }
}

function letGo(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop()
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
