import type { Caller } from '../../sdk/src/operation.ts'
import type { Shape } from '../../server/src/dispatch/shape.ts'
import { documentedPath, parametersOf } from '../../server/src/http/openapi.ts'
import type { Area } from '../../server/src/kit/area.ts'
import type { Operation } from '../../server/src/kit/operation.ts'
import { commentText, declarationText, literal, type Titled, typeText } from './type-text.ts'

/** One operation as the SDK has it: the type of its input, and its descriptor. */

const cursorKeys = ['affix', 'id', 'sentAt', 'updatedAt', 'pinnedAt']

export function operationText(area: Area, operation: Operation, titled: Titled): string {
  const { id, summary, description, deprecated, reply } = operation
  const alternatives = (reply as Shape).anyOf ?? [reply as Shape]
  const named = `${id.charAt(0).toUpperCase()}${id.slice(1)}`
  const input = inputOf(area, operation, alternatives, `${named}Input`, titled)
  const answer = answerOf(alternatives, `${named}Answer`, titled)
  const about = [
    [`${summary}.`, description].join(' ').trim(),
    ...(deprecated ? [`@deprecated Replaced by \`${deprecated.replacedBy}\``] : []),
  ].join('\n\n')
  const by = callersOf(operation).map(literal).join(' | ')
  const kind = alternatives.some(isPage) ? 'ListOperation' : 'Operation'
  const descriptor = `export const ${id}: ${kind}<${input.type}, ${answer.type}, ${by}> = {
    ${fieldsOf(area, operation, alternatives).join(', ')}
  }`
  return [...input.declared, ...answer.declared, `${commentText(about)}${descriptor}`].join('\n\n')
}

/** How a type is called where it is used, and the lines that declare it, if it needs any. */
interface Named {
  type: string
  declared: string[]
}

function inputOf(area: Area, operation: Operation, alternatives: Shape[], name: string, titled: Titled): Named {
  const shape = inputShape(area, operation, alternatives)
  if (Object.keys(shape.properties ?? {}).length === 0) return { type: 'Nothing', declared: [] }
  const more = [
    ...(operation.takesFiles ? [filesField] : []),
    ...(cursorOf(operation.id, alternatives).length > 0 ? [cursorField] : []),
  ]
  return { type: name, declared: [declarationText(name, shape, titled, more)] }
}

function answerOf(alternatives: Shape[], name: string, titled: Titled): Named {
  const text = [...new Set(alternatives.map((each) => answerText(each, titled)))].join(' | ')
  const isLong = text.includes('\n')
  return isLong ? { type: name, declared: [`export type ${name} = ${text}`] } : { type: text, declared: [] }
}

/** What there is of a descriptor when the program runs. */
function fieldsOf(area: Area, operation: Operation, alternatives: Shape[]): string[] {
  const { method, query, takesFiles } = operation
  const isNumbered = 'page' in ((query as Shape).properties ?? {})
  return [
    `method: ${literal(method)}`,
    `path: ${literal(documentedPath(area, operation))}`,
    ...(takesFiles ? ['takesFiles: true'] : []),
    ...(alternatives.some(isPage) ? [`pages: ${literal(isNumbered ? 'numbered' : 'cursors')}`] : []),
  ]
}

/** What no schema tells. */
const filesField = '/** Sent along as a form, and attached to the message */\nfiles?: readonly Blob[]'
const cursorField = '/** Where to read on; from the start if absent */\ncursor?: Cursor'

const clients: Caller[] = ['client']

export function callersOf({ door, doors, onBehalfOf }: Operation): Caller[] {
  if (door === 'management') return ['management']
  const withKey: Record<Operation['onBehalfOf'], Caller[]> = {
    unsupported: ['app'],
    optional: ['app', 'actor'],
    required: ['actor'],
  }
  return [...(doors.includes('server') ? withKey[onBehalfOf] : []), ...(doors.includes('client') ? clients : [])]
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
    properties: { ...params, ...Object.fromEntries(fields) },
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
