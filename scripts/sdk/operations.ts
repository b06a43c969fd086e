import type { Caller } from '../../sdk/src/operation.ts'
import type { Shape } from '../../server/src/dispatch/shape.ts'
import { documentedPath, parametersOf } from '../../server/src/http/openapi.ts'
import type { Area } from '../../server/src/kit/area.ts'
import type { Operation } from '../../server/src/kit/operation.ts'
import { commentText, declarationText, literal, type Titled, typeText } from './type-text.ts'

/** One operation as the SDK has it: the type of its input, and its descriptor. */

const cursorKeys = ['affix', 'id', 'sentAt', 'updatedAt', 'pinnedAt']

export function operationText(area: Area, operation: Operation, titled: Titled): string {
  const { id, method, summary, description, takesFiles, deprecated, reply } = operation
  const alternatives = alternativesOf(reply as Shape)
  const isList = alternatives.some(isPage)
  const input = inputShape(area, operation, alternatives)
  const hasInput = Object.keys(input.properties ?? {}).length > 0
  const typeName = `${id.charAt(0).toUpperCase()}${id.slice(1)}`
  const more = [...(takesFiles ? [filesField] : []), ...(cursorOf(id, alternatives).length > 0 ? [cursorField] : [])]
  const inputText = hasInput ? `${declarationText(`${typeName}Input`, input, titled, { more })}\n\n` : ''
  const answer = [...new Set(alternatives.map((each) => answerText(each, titled)))].join(' | ')
  const isLong = answer.includes('\n')
  const answerDeclared = isLong ? `export type ${typeName}Answer = ${answer}\n\n` : ''
  const by = callersOf(operation).map(literal).join(' | ')
  const about = [
    [`${summary}.`, description].join(' ').trim(),
    ...(deprecated ? [`@deprecated Replaced by \`${deprecated.replacedBy}\``] : []),
  ].join('\n\n')
  const fields = [
    `method: ${literal(method)}`,
    `path: ${literal(documentedPath(area, operation))}`,
    ...(takesFiles ? ['takesFiles: true'] : []),
    ...(isList ? [`pages: ${literal('page' in (input.properties ?? {}) ? 'numbered' : 'cursors')}`] : []),
  ]
  return (
    `${inputText}${answerDeclared}${commentText(about)}export const ${id}: ${isList ? 'ListOperation' : 'Operation'}<` +
    `${hasInput ? `${typeName}Input` : 'Nothing'}, ${isLong ? `${typeName}Answer` : answer}, ${by}> = ` +
    `{ ${fields.join(', ')} }`
  )
}

/** What no schema tells. */
const filesField = '/** Sent along as a form, and attached to the message */\nfiles?: readonly Blob[]'
const cursorField = '/** Where to read on; from the start if absent */\ncursor?: Cursor'

export function callersOf({ door, doors, onBehalfOf }: Operation): Caller[] {
  if (door === 'management') return ['management']
  const ofServer: Caller[] =
    onBehalfOf === 'unsupported' ? ['app'] : onBehalfOf === 'required' ? ['actor'] : ['app', 'actor']
  return [...(doors.includes('server') ? ofServer : []), ...(doors.includes('client') ? (['client'] as const) : [])]
}

/** What stands in the path, in the query and in the body, as one object. */
function inputShape(area: Area, operation: Operation, alternatives: Shape[]): Shape {
  const { id, method, path, body, query, takesFiles } = operation
  const inPath = parametersOf(area, operation).filter((each) => each.in === 'path')
  const params = Object.fromEntries(
    inPath.map(({ name, description }) => [name, { type: 'string', ...(description && { description }) }]),
  )
  const sent = (method === 'GET' ? query : body) as Shape
  const unsent = Object.keys(((method === 'GET' ? body : query) as Shape).properties ?? {})
  if (unsent.length > 0) throw new Error(`${id}: a ${method} with ${unsent} has no place for it in the SDK.`)
  const cursor = cursorOf(id, alternatives)
  const fields = Object.entries(sent.properties ?? {}).filter(([name]) => !cursor.includes(name))
  const taken = [...Object.keys(params), ...(takesFiles ? ['files'] : []), ...(method === 'GET' ? ['cursor'] : [])]
  const twice = fields.map(([name]) => name).filter((name) => taken.includes(name))
  if (twice.length > 0) throw new Error(`${id}: ${twice} would mean two things in the input of ${path}.`)
  return {
    type: 'object',
    properties: {
      ...params,
      ...Object.fromEntries(fields),
    },
    required: [...Object.keys(params), ...(sent.required ?? [])],
  }
}

/** The names of the query by which a list is read on; they come as one `cursor`. */
function cursorOf(id: string, alternatives: Shape[]): string[] {
  const keys = alternatives.flatMap((each) => Object.keys(metaOf(each)?.next?.properties ?? {}))
  const unknown = keys.filter((key) => !cursorKeys.includes(key))
  if (unknown.length > 0) throw new Error(`${id}: the SDK's Cursor has no ${unknown}.`)
  return keys
}

function alternativesOf(reply: Shape): Shape[] {
  return reply.anyOf ?? [reply]
}

const metaOf = (reply: Shape) => reply.properties?.meta?.properties

const isPage = (reply: Shape) => ['pagination', 'next'].some((name) => name in (metaOf(reply) ?? {}))

/** The page of a list; else what stands in `data`, unless something stands beside it. */
function answerText(reply: Shape, titled: Titled): string {
  const { data = {}, ...others } = reply.properties ?? {}
  if (isPage(reply)) {
    const item = typeText(data.items ?? {}, titled)
    return `${'next' in (metaOf(reply) ?? {}) ? 'CursorPage' : 'NumberedPage'}<${item}>`
  }
  return Object.keys(others).length > 0 ? typeText(reply, titled) : typeText(data, titled)
}
