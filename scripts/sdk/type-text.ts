import { Done } from '../../server/src/common/reply.ts'
import { memberOf, type Shape } from '../../server/src/dispatch/shape.ts'

/** Schemas as TypeScript. What has a title is written once and referred to by it. */

/** Records by title, in the order in which they were met. */
export type Titled = Map<string, Shape>

export function typeText(untitled: Shape, titled: Titled): string {
  const shape = isDone(untitled) ? { ...untitled, title: 'Done' } : untitled
  if (shape.title === undefined) return writtenOut(shape, titled)
  if (!titled.has(shape.title)) {
    titled.set(shape.title, shape)
    // Those that it refers to are met now, so that all are known before the first is written.
    writtenOut(shape, titled)
  }
  return shape.title
}

const done = JSON.stringify(Done.properties.data)

/** What acts without a record answer; its place is too common for a title. */
const isDone = (shape: Shape) => JSON.stringify(shape) === done

/** `export interface User { … }`, or a type where it is no object with fields; `more` are lines besides those. */
export function declarationText(name: string, shape: Shape, titled: Titled, more: string[] = []): string {
  const comment = shape.description === undefined ? '' : commentText(shape.description)
  if (!shape.properties) return `${comment}export type ${name} = ${writtenOut(shape, titled)}`
  return `${comment}export interface ${name} ${fieldsText(shape, titled, more)}`
}

const commentColumns = 110

/** A comment of one line, or of several where it is long. */
export function commentText(about: string): string {
  const text = about.replaceAll('*/', '* /')
  const lines = text.split('\n').flatMap(wrapped)
  return lines.length === 1
    ? `/** ${text} */\n`
    : `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`
}

function wrapped(text: string): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line !== '' && line.length + word.length >= commentColumns) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}

/** A text as it is written in a source file. */
export function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll(/[\\']/g, '\\$&')}'` : JSON.stringify(value)
}

/** `name`, or `'sentAt[from]'` where it is no name by itself. */
function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name)
}

function writtenOut(shape: Shape, titled: Titled): string {
  const { type, enum: words, anyOf, properties, items } = shape
  if ('const' in shape) return literal(shape.const)
  if (words) return union(words.map(literal))
  if (anyOf) return union(anyOf.map((each) => typeText(each, titled)))
  if (properties && Object.keys(properties).length > 0) return fieldsText(shape, titled)
  const member = memberOf(shape)
  if (member) return `Record<string, ${typeText(member, titled)}>`
  if (type === 'array') return arrayText(items ?? {}, titled)
  if (type === 'object') return 'Record<string, unknown>'
  if (type === 'integer' || type === 'number') return 'number'
  return type ?? 'unknown'
}

function fieldsText(shape: Shape, titled: Titled, more: string[] = []): string {
  const { type, properties = {}, required = [] } = shape
  const fields = Object.entries(properties).map(([name, field]) => {
    const comment = field.description === undefined ? '' : commentText(field.description)
    return `${comment}${propertyName(name)}${required.includes(name) ? '' : '?'}: ${typeText(field, titled)}`
  })
  // Without a type it is anything, of which some fields are known.
  const others = type === undefined || memberOf(shape) ? ['[name: string]: unknown'] : []
  return `{\n${[...fields, ...more, ...others].join('\n')}\n}`
}

function arrayText(items: Shape, titled: Titled): string {
  const text = typeText(items, titled)
  return /^\w+$/.test(text) ? `${text}[]` : `(${text})[]`
}

function union(texts: string[]): string {
  return [...new Set(texts)].join(' | ')
}
