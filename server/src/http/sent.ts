import type { IncomingMessage } from 'node:http'
import type { Receive } from '../dispatch/dispatch.ts'
import type { Sent } from '../dispatch/perform.ts'
import { badRequest } from '../kit/errors.ts'
import type { Operation } from '../kit/operation.ts'
import { looksLikeJson, parseBody, readBody } from './body.ts'
import { bodyOfFields, type FormField, urlencodedFields } from './forms.ts'
import { isMultipart, readForm } from './multipart.ts'
import { takeTime } from './patience.ts'

/** What a request brings along: JSON or a form, and files with it where they are taken. */
export async function readSent(
  request: IncomingMessage,
  { body, bodyBytesMax }: Pick<Operation, 'body' | 'bodyBytesMax'>,
  receive: Receive | undefined,
): Promise<Sent> {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') throw badRequest({ 'content-encoding': ['is not supported; send the body as it is'] })
  if (isMultipart(request)) {
    const intake = await receive?.()
    if (intake) takeTime(request)
    const { fields, files, digests } = await readForm(request, bodyBytesMax, intake)
    return { text: textOfForm(fields, digests), body: bodyOfFields(body, fields), files }
  }
  const text = await readBody(request, bodyBytesMax)
  const isForm = isUrlencoded(request) && !looksLikeJson(text)
  return { text, body: isForm ? bodyOfFields(body, urlencodedFields(text)) : parseBody(text), files: [] }
}

function isUrlencoded({ headers }: IncomingMessage): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')
}

/** Tells a form from others and from every JSON body, whatever stands between its parts. */
function textOfForm(fields: FormField[], digests: string[]): string {
  return JSON.stringify([fields, digests])
}
