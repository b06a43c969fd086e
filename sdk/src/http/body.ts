import type { Runtime } from '../runtime/runtime.ts'
import type { Values } from './address.ts'

/** What is sent, and the header that says so; a form tells its own type, as only it knows where its parts end. */
export interface Body {
  content: string | FormData
  headers: Record<string, string>
}

export function jsonBody(values: Values): Body {
  return { content: JSON.stringify(values), headers: { 'Content-Type': 'application/json' } }
}

/** The same values as a form, with files. What is not text is written as JSON. */
export function formBody(values: Values, files: readonly Blob[], runtime: Runtime): Body {
  const content = runtime.form()
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) content.append(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  for (const file of files) content.append('files[]', file)
  return { content, headers: {} }
}
