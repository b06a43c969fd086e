import { requestUploads } from '../generated/operations.ts'
import type { Attachment } from '../generated/records.ts'
import type { UserCall } from '../http/call.ts'
import { abortedError, ParleyError } from '../http/errors.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { cell, type Readable } from '../store/cell.ts'

/** A file on its way to the server, before the message that it is for. */

export interface UploadState {
  readonly state: 'uploading' | 'done' | 'failed'
  /** Bytes sent, and in all. */
  readonly loaded: number
  readonly total: number
  readonly error?: ParleyError
}

export interface Upload extends Readable<UploadState> {
  /** What a message needs of the file; rejects when it could not be sent or was given up. */
  readonly done: Promise<Attachment>
  abort(): void
  /** Sends the file again, if it has failed; `done` is another promise then. */
  retry(): void
}

export interface UploadParts {
  request: UserCall
  runtime: Runtime
  receiverId: string
  receiverType: 'user' | 'group'
}

const fileId = 'file'

/** Begins at once. The name is that of the file, if it has one. */
export function startUpload(file: Blob & { name?: string }, { request, runtime, ...receiver }: UploadParts): Upload {
  const total = file.size
  const state = cell<UploadState>({ state: 'uploading', loaded: 0, total })
  let controller = runtime.abortController()

  async function run(signal: AbortSignal): Promise<Attachment> {
    const described = {
      fileId,
      name: file.name ?? 'file',
      mimeType: file.type || 'application/octet-stream',
      size: total,
    }
    const place = (await request(requestUploads, { ...receiver, files: [described] }, { signal }))[fileId]
    if (!place || 'error' in place) throw refusal(place?.error)
    const progress = (loaded: number) => state.set({ state: 'uploading', loaded, total })
    const status = await runtime.put(place.uploadUrl, { headers: place.headers, body: file, signal, progress })
    if (status < 200 || status > 299)
      throw refusal({ code: 'ERR_UNREADABLE_ANSWER', message: `It was answered ${status}.` })
    return place.attachment
  }

  function begin(): Promise<Attachment> {
    const { signal } = controller
    const sent = run(signal).then(
      (attachment) => {
        state.set({ state: 'done', loaded: total, total })
        return attachment
      },
      (cause) => {
        const error = signal.aborted ? abortedError() : known(cause)
        state.set({ state: 'failed', loaded: state.get().loaded, total, error })
        throw error
      },
    )
    // Whoever does not wait for it looks at its state.
    sent.catch(() => {})
    return sent
  }

  let done = begin()
  return {
    get: state.get,
    subscribe: state.subscribe,
    get done() {
      return done
    },
    abort: () => controller.abort(),
    retry() {
      if (state.get().state !== 'failed') return
      controller = runtime.abortController()
      state.set({ state: 'uploading', loaded: 0, total })
      done = begin()
    },
  }
}

function refusal({ code, message } = { code: 'ERR_UNREADABLE_ANSWER', message: 'There is no place for the file.' }) {
  return new ParleyError({ code, kind: 'refused', message })
}

function known(cause: unknown): ParleyError {
  if (ParleyError.is(cause)) return cause
  const message = 'The file could not be sent to its end.'
  return new ParleyError({ code: 'ERR_NETWORK', kind: 'network', message, cause })
}
