import { booleanIn } from '../dispatch/query.ts'
import { memberOf, type Shape } from '../dispatch/shape.ts'
import { badRequest } from '../kit/errors.ts'
import type { TSchema } from '../kit/schema.ts'
import { depthMax, jsonReader, type Reading, tooDeep, tooMany, valuesMax } from '../plain/json.ts'
import { looksLikeJson } from './body.ts'

/**
 * A form says what a JSON object says, in texts. What each text means is for the schema to tell: where it wants a number,
 * `12` is one, and where it wants text, `12` is text.
 */

export type FormField = [name: string, value: string]

/** The fields of a form in the encoding that links use. */
export function urlencodedFields(text: string): FormField[] {
  const parts = text.split('&').filter((part) => part !== '')
  if (parts.length > valuesMax) throw badRequest({ body: [tooMany] })
  return parts.map((part) => {
    const cut = part.indexOf('=')
    return cut < 0 ? [decoded(part), ''] : [decoded(part.slice(0, cut)), decoded(part.slice(cut + 1))]
  })
}

/** Bytes that are no UTF-8 are refused: they would be stored as something else than what was sent. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw badRequest({ body: ['must be a form of UTF-8 text'] })
  }
}

/** What was sent under one name: texts, and what stands under names in brackets behind it. */
interface Sent {
  texts: string[]
  /** Was written with empty brackets, so that even one text is a list. */
  isList: boolean
  parts: Map<string, Sent>
}

/** Reads the JSON in fields, which all together may hold as much as one body. */
type ReadJson = (text: string) => Reading

/** The object that a form stands for. */
export function bodyOfFields(schema: TSchema, fields: FormField[]): Record<string, unknown> {
  if (fields.length > valuesMax) throw badRequest({ body: [tooMany] })
  const readJson = jsonReader(fields.length)
  const { properties = {} } = schema as Shape
  const members = [...sentIn(fields)].map(([name, sent]) => {
    const shape = Object.hasOwn(properties, name) ? properties[name] : undefined
    // What nobody asked for is not looked into; that it is readable is checked as in any body.
    return [name, shape ? readValue(shape, sent, name, readJson) : sent.texts] as const
  })
  return Object.fromEntries(members)
}

function sentIn(fields: FormField[]): Map<string, Sent> {
  const all = nothing()
  let parts = 0
  for (const [name, text] of fields) {
    const path = pathOf(name)
    parts += path.length
    // Names in brackets make values as well.
    if (parts > valuesMax) throw badRequest({ body: [tooMany] })
    if (path.length > depthMax) throw badRequest({ body: [tooDeep] })
    let at = all
    path.forEach((step, n) => {
      const isLast = n === path.length - 1
      if (step === '' && isLast) at.isList = true
      else at = partOf(at, step === '' ? String(at.parts.size) : step)
    })
    at.texts.push(text)
  }
  return all.parts
}

const nothing = (): Sent => ({ texts: [], isList: false, parts: new Map() })

function partOf({ parts }: Sent, name: string): Sent {
  const known = parts.get(name) ?? nothing()
  parts.set(name, known)
  return known
}

const nested = /^([^[\]]+)((?:\[[^[\]]*\])+)$/

/** `data[text]` is `text` in `data`; brackets that do not pair are part of a name. */
function pathOf(name: string): string[] {
  const [, first, brackets] = name.endsWith(']') ? (nested.exec(name) ?? []) : []
  return first === undefined || brackets === undefined ? [name] : [first, ...brackets.slice(1, -1).split('][')]
}

const free: Shape = {}

function readValue(shape: Shape, sent: Sent, path: string, readJson: ReadJson): unknown {
  const { texts, parts, isList } = sent
  if (parts.size > 0) {
    if (texts.length > 0) throw badRequest({ [path]: ['must be sent in one way, as a whole or in parts'] })
    return isListOfParts(shape, parts)
      ? listOfParts(shape, parts, path, readJson)
      : objectOf(shape, parts, path, readJson)
  }
  const [text = '', ...more] = texts
  if (!isList && more.length === 0) return fromText(shape, text, path, readJson)
  // Where no list is wanted, the schema refuses it: nobody knows which of them was meant.
  return texts.map((each) => fromText(shape.items ?? { type: 'string' }, each, path, readJson))
}

const isWhole = /^(0|[1-9]\d*)$/

/** Numbers in brackets are places in a list, where one is wanted, or where anything is. */
function isListOfParts(shape: Shape, parts: Map<string, Sent>): boolean {
  if (![...parts.keys()].every((name) => isWhole.test(name))) return false
  return shape.type === 'array' || (isFree(shape) && [...parts.keys()].every((name) => Number(name) < parts.size))
}

function listOfParts(shape: Shape, parts: Map<string, Sent>, path: string, readJson: ReadJson): unknown[] {
  const inOrder = [...parts].toSorted(([a], [b]) => Number(a) - Number(b))
  return inOrder.map(([name, part]) => partValue(shape.items, part, `${path}.${name}`, readJson))
}

function objectOf(shape: Shape, parts: Map<string, Sent>, path: string, readJson: ReadJson): Record<string, unknown> {
  const { properties = {} } = shape
  const members = [...parts].map(([name, part]) => {
    const member = Object.hasOwn(properties, name) ? properties[name] : memberOf(shape)
    return [name, partValue(member, part, `${path}.${name}`, readJson)] as const
  })
  return Object.fromEntries(members)
}

/** Within what the schema leaves open, a text is a text, whatever it looks like. */
function partValue(shape: Shape | undefined, part: Sent, path: string, readJson: ReadJson): unknown {
  const isOpen = shape === undefined || isFree(shape)
  if (isOpen && part.parts.size === 0 && part.texts.length === 1 && !part.isList) return part.texts[0]
  return readValue(shape ?? free, part, path, readJson)
}

/** Anything may stand there. */
function isFree({ type, anyOf, 'x-number': isId }: Shape): boolean {
  return type === undefined && anyOf === undefined && !isId
}

/** What is not understood stays text, for the schema to refuse. */
function fromText(shape: Shape, text: string, path: string, readJson: ReadJson): unknown {
  if (shape.type === 'boolean') return booleanIn(text) ?? text
  if (shape.type === 'integer' || shape.type === 'number') return integerIn(text) ?? text
  return holdsOthers(shape) ? structureIn(text, path, readJson) : text
}

function holdsOthers(shape: Shape): boolean {
  return isFree(shape) || shape.type === 'array' || shape.type === 'object' || (shape.anyOf ?? []).some(holdsOthers)
}

/** Digits, and nothing that only some programs take for a number. */
function integerIn(text: string): number | undefined {
  const value = Number(text)
  return /^-?\d+$/.test(text) && Number.isSafeInteger(value) ? value : undefined
}

function structureIn(text: string, path: string, readJson: ReadJson): unknown {
  if (!looksLikeJson(text)) return text
  const reading = readJson(text)
  if ('value' in reading) return reading.value
  if (reading.isJson) throw badRequest({ [path]: [reading.problem] })
  return text
}
