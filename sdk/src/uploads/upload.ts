import { requestUploads } from '../generated/operations.ts'
import type { Attachment } from '../generated/records.ts'
import type { UserCall } from '../http/call.ts'
import { abortedError, kindOf, ParleyError } from '../http/errors.ts'
import { withRetries } from '../http/retry.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { cell, type Readable } from '../store/cell.ts'

/** A file on its way to the server, before the message that it is for. */

export interface UploadState {
  readonly state: 'uploading' | 'done' | 'failed'
  /** Bytes sent, and in all. */
  readonly loaded: number
  readonly total: number
  /** Why it has failed, or what it waits for before it begins again. */
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
const stalledMs = 30_000

/** Begins at once, and again where the network fails. The name is that of the file, if it has one. */
export function startUpload(file: Blob & { name?: string }, { request, runtime, ...receiver }: UploadParts): Upload {
  const total = file.size
  const state = cell<UploadState>({ state: 'uploading', loaded: 0, total })
  let controller = runtime.abortController()

  async function run(signal: AbortSignal): Promise<Attachment> {
    try {
      return await attempt(signal)
    } catch (cause) {
      const error = signal.aborted ? abortedError() : known(cause)
      state.set({ state: 'uploading', loaded: 0, total, error })
      throw error
    }
  }

  /** To a place of its own: whether the one before has the file, nobody knows. */
  async function attempt(signal: AbortSignal): Promise<Attachment> {
    const described = {
      fileId,
      name: file.name ?? 'file',
      mimeType: file.type || 'application/octet-stream',
      size: total,
    }
    const asked = { ...receiver, files: [described] }
    const place = (await request(requestUploads, asked, { signal, retries: 0 }))[fileId]
    if (!place || 'error' in place) throw refusal(place?.error)
    const status = await put(place.uploadUrl, place.headers, signal)
    if (status >= 200 && status <= 299) return place.attachment
    const code = 'ERR_UNREADABLE_ANSWER'
    throw new ParleyError({ code, kind: kindOf(status, code), message: `It was answered ${status}.` })
  }

  /** A connection over which nothing goes any more is not waited for; where no progress is told, nobody can say. */
  async function put(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<number> {
    const sending = runtime.abortController()
    const giveUp = () => sending.abort()
    let callOffStall = () => {}
    let isStalled = false
    const progress = (loaded: number) => {
      state.set({ state: 'uploading', loaded, total })
      callOffStall()
      callOffStall = runtime.after(stalledMs, () => {
        isStalled = true
        giveUp()
      })
    }
    signal.addEventListener('abort', giveUp)
    try {
      return await runtime.put(url, { headers, body: file, signal: sending.signal, progress })
    } catch (error) {
      throw isStalled ? stalledError() : error
    } finally {
      callOffStall()
      signal.removeEventListener('abort', giveUp)
    }
  }

  function begin(): Promise<Attachment> {
    const { signal } = controller
    const sent = withRetries(() => run(signal), Number.POSITIVE_INFINITY, signal, runtime).then(
      (attachment) => {
        state.set({ state: 'done', loaded: total, total })
        return attachment
      },
      (error) => {
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

function stalledError(): ParleyError {
  const message = `Nothing of the file went for ${stalledMs} ms.`
  return new ParleyError({ code: 'ERR_UPLOAD_STALLED', kind: 'network', message })
}

function known(cause: unknown): ParleyError {
  if (ParleyError.is(cause)) return cause
  const message = 'The file could not be sent to its end.'
  return new ParleyError({ code: 'ERR_NETWORK', kind: 'network', message, cause })
}
