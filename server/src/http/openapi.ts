import { failuresOf } from '../dispatch/declared.ts'
import { unavailable } from '../dispatch/errors.ts'
import type { Shape } from '../dispatch/shape.ts'
import type { Area } from '../kit/area.ts'
import { badRequest, type ErrorDefinition, tooManyRequests } from '../kit/errors.ts'
import type { Operation } from '../kit/operation.ts'
import type { ServiceAddress } from '../kit/ports.ts'
import { domainWithPort } from '../plain/place.ts'
import { regions } from '../plain/regions.ts'
import { invalidVersion, plainHttpRefused, type Source } from './errors.ts'
import { leastSampleOf, sampleOf } from './reference/sample.ts'
import { isRouted } from './router.ts'

/** The API as an OpenAPI 3.1 document, made from the declarations that the server itself runs on. */

const version = '3.0.0'
/** What callers of each kind send; the server's own parts send nothing. */
const credentials: Record<Operation['doors'][number], Record<string, string[]>[]> = {
  server: [{ apiKey: [] }],
  client: [{ authToken: [] }],
  system: [],
}

/** The hosts of an install; what differs from one install to the next stands in braces. */
const hosts = {
  api: { url: 'https://{appId}.api-{region}.{domain}', description: 'Chat host of an app' },
  client: {
    url: 'https://{appId}.apiclient-{region}.{domain}',
    description: 'The same host under the name that clients of end users call',
  },
  region: {
    url: 'https://api-{region}.{domain}',
    description: 'The same host for an app that the header `appid` names',
  },
  call: { url: 'https://{appId}.call-{region}.{domain}', description: 'Calls host of an app' },
  management: { url: 'https://apimgmt.{domain}', description: 'Management host' },
}

type Host = (typeof hosts)[keyof typeof hosts]

/** A host as the document names it, with what stands in its braces at the install that tells of it. */
function serverAt(place: ServiceAddress, { url, description }: Host) {
  const variables = Object.entries({
    appId: { default: 'app', description: 'The app id' },
    region: { default: place.region, enum: [...regions], description: 'Data-centre region' },
    domain: { default: domainWithPort(place), description: 'Domain of the install, and its port' },
  })
  return { url, description, variables: Object.fromEntries(variables.filter(([name]) => url.includes(`{${name}}`))) }
}

const prefixes: Record<Area['mount'], string> = { v3: '/v3', management: '', emulator: '/_emulator' }

/** Where an operation is found, as the document names it. */
export function documentedPath(area: Area, operation: Operation): string {
  return `${prefixes[area.mount]}${operation.path}`
}

/** The documented host of an area. */
export function hostOf(area: Area): Host {
  return area.mount === 'management' ? hosts.management : hosts[area.host]
}

/** The areas that can be called, each with what can be called of it. */
export function documentedAreas(areas: Area[]): Area[] {
  return areas
    .map((area) => ({ ...area, operations: area.operations.filter(isRouted) }))
    .filter(({ operations }) => operations.length > 0)
}

export function openApiDocument(areas: Area[], place: ServiceAddress) {
  const steps = documentInSteps(areas, place)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** The document as text; in steps, since it takes a while to make. */
export function* openApiText(areas: Area[], place: ServiceAddress): Generator<string> {
  yield JSON.stringify(yield* documentInSteps(areas, place))
}

function* documentInSteps(areas: Area[], place: ServiceAddress) {
  const shown = documentedAreas(areas)
  const records: Records = {}
  const paths: Record<string, Record<string, unknown>> = {}
  for (const area of shown) {
    for (const operation of area.operations) {
      const path = documentedPath(area, operation)
      // Of the chat host, its other names are told once, for the whole document.
      paths[path] ??= hostOf(area) === hosts.api ? {} : { servers: [serverAt(place, hostOf(area))] }
      paths[path][operation.method.toLowerCase()] = operationObject(area, operation, records)
      yield ''
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parley',
      version,
      summary: 'Chat and calling for your product, on your own servers',
      description: 'Every success is HTTP 200 with `data`; every failure has `error.code` to go by.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [hosts.api, hosts.client, hosts.region].map((host) => serverAt(place, host)),
    tags: shown.map(({ name, about }) => ({ name, description: about })),
    paths,
    components: { securitySchemes, headers, schemas: { Error: errorSchema, ...records } },
  }
}

const securitySchemes = {
  apiKey: { type: 'apiKey', in: 'header', name: 'apikey', description: 'An API key of the app' },
  authToken: { type: 'apiKey', in: 'header', name: 'authToken', description: 'An auth token of an end user' },
  managementKey: { type: 'apiKey', in: 'header', name: 'key', description: 'First half of a management pair' },
  managementSecret: { type: 'apiKey', in: 'header', name: 'secret', description: 'Second half of the pair' },
  managementBasic: { type: 'http', scheme: 'basic', description: 'The same pair as HTTP Basic' },
}

const headers = {
  'X-Request-Id': { description: 'Names the request in the server’s log', schema: { type: 'string' } },
  'X-RateLimit-Limit': { description: 'Requests allowed per minute', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests left in this minute', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'When the next minute begins, in UNIX seconds', schema: { type: 'integer' } },
  'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer' } },
  Deprecation: { description: 'Always `true`: the operation has a successor', schema: { type: 'string' } },
  Link: { description: 'The successor, as `successor-version`', schema: { type: 'string' } },
}

const headerRefs = (names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const deprecationHeaders = ['Deprecation', 'Link']
const allowanceHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

/** Records that several operations answer; each is written once and referred to by its title. */
type Records = Record<string, unknown>

/** A schema for the document: titled ones move to the components, and maps are written the way generators read them. */
function written(schema: unknown, records: Records): unknown {
  if (Array.isArray(schema)) return schema.map((each) => written(each, records))
  if (typeof schema !== 'object' || schema === null) return schema
  const { title, examples, properties, patternProperties, ...rest } = schema as Shape
  const copy = writtenEach(withoutMarks(rest), records)
  // A map of fields is no schema: a field may itself be called `title`.
  if (properties) copy.properties = writtenEach(properties, records)
  if (patternProperties) copy.additionalProperties = written(Object.values(patternProperties)[0], records)
  if (examples) copy.examples = examples
  if (title === undefined) return copy
  records[title] ??= { title, ...copy }
  return { $ref: `#/components/schemas/${title}` }
}

/** What the reader of bodies goes by, in words that every reader of schemas knows, as far as there are any. */
function withoutMarks({ 'x-number': isId, 'x-empty': _, 'x-also': __, ...rest }: Shape): object {
  if (!isId) return rest
  return rest.anyOf
    ? { ...rest, anyOf: [...rest.anyOf, { type: 'integer' }] }
    : { ...rest, type: ['string', 'integer'] }
}

function writtenEach(parts: object, records: Records): Record<string, unknown> {
  return Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, written(value, records)]))
}

function operationObject(area: Area, operation: Operation, records: Records) {
  const { id, summary, description, hasBody, body, reply, deprecated, keys, rate } = operation
  return {
    operationId: id,
    tags: [area.name],
    summary,
    ...(description && { description }),
    ...(deprecated && { deprecated: true, 'x-replaced-by': deprecated.replacedBy }),
    security:
      operation.door === 'management'
        ? [{ managementKey: [], managementSecret: [] }, { managementBasic: [] }]
        : operation.doors.flatMap((door) => credentials[door]),
    ...(keys.length > 0 && { 'x-key-scopes': keys }),
    'x-rate-class': rate,
    parameters: parametersOf(area, operation),
    ...(hasBody && {
      requestBody: {
        required: isRequired(body),
        content: contentOf(operation, records),
      },
    }),
    responses: {
      200: {
        description: 'Success',
        headers: headerRefs(['X-Request-Id', ...allowanceHeaders, ...(deprecated ? deprecationHeaders : [])]),
        content: { 'application/json': { schema: written(reply, records), example: sampleOf(reply as Shape) } },
      },
      ...errorResponses(area, operation),
    },
  }
}

/** A body may come in three ways; its schema is written once. */
function contentOf({ id, body, takesFiles }: Operation, records: Records) {
  const name = `${id.charAt(0).toUpperCase()}${id.slice(1)}Body`
  records[name] ??= { title: name, ...(written(body, records) as object) }
  const schema = { $ref: `#/components/schemas/${name}` }
  return {
    'application/json': { schema, example: leastSampleOf(body as Shape) },
    'application/x-www-form-urlencoded': { schema },
    'multipart/form-data': { schema: takesFiles ? formOf(body as Shape, records) : schema },
  }
}

/** The same body as a form, with its files. */
function formOf(body: Shape, records: Records) {
  const files = { type: 'array', items: { type: 'string', format: 'binary' }, description: 'The files' }
  const { properties, ...rest } = written(body, records) as Shape
  return { ...rest, properties: { ...properties, 'files[]': files } }
}

function isRequired(body: object): boolean {
  return ((body as Shape).required ?? []).length > 0
}

/** A parameter, as the document and the reference page show it. */
export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: Shape
}

export function parametersOf(area: Area, { path, query, onBehalfOf, method }: Operation): Parameter[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => pathParameter(area, name))
  const properties = Object.entries((query as Shape).properties ?? {})
  const inQuery = properties.map(([name, { description, ...schema }]): Parameter => {
    return { name, in: 'query', required: false, ...(description && { description }), schema }
  })
  const acting: Parameter = {
    name: 'onBehalfOf',
    in: 'header',
    required: onBehalfOf === 'required',
    description: 'UID of the user to act as',
    schema: { type: 'string' },
  }
  const repeatable: Parameter = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Sent again with the same body within 24 hours, the write happens once and is answered the same',
    schema: { type: 'string', maxLength: 255 },
  }
  return [
    ...inPath,
    ...inQuery,
    ...(onBehalfOf === 'unsupported' ? [] : [acting]),
    ...(method === 'GET' ? [] : [repeatable]),
  ]
}

/** A path parameter is told in the words of the record’s field it names. */
function pathParameter(area: Area, name: string): Parameter {
  const [field] = area.operations.flatMap(({ reply }) => namedIn(reply as Shape, name))
  const { description, ...schema } = field ?? {
    description: `Which ${name.replace(/Id$/, '')} is meant`,
    type: 'string',
  }
  return { name, in: 'path', required: true, ...(description && { description }), schema }
}

function namedIn(shape: Shape, name: string): Shape[] {
  const { properties = {}, items } = shape
  const here = properties[name]?.description ? [properties[name]] : []
  const deeper = [...Object.values(properties), ...(items ? [items] : [])]
  return [...here, ...deeper.flatMap((each) => namedIn(each, name))]
}

/** Every failure a request for an operation can meet. */
export function errorsOf(operation: Operation): ErrorDefinition[] {
  const ofPath = operation.door === 'management' ? [] : [invalidVersion]
  return [plainHttpRefused, ...ofPath, ...failuresOf(operation)]
}

function errorResponses(area: Area, operation: Operation): Record<string, object> {
  const byStatus = Map.groupBy(errorsOf(operation), ({ status }) => status)
  return Object.fromEntries(
    [...byStatus].map(([status, errors]) => [
      status,
      {
        description: errors.map(({ code, when }) => `\`${code}\`: ${when}`).join('; '),
        headers: headerRefs([
          'X-Request-Id',
          ...(status === tooManyRequests.status ? allowanceHeaders : []),
          ...(isToBeRepeated(status) ? ['Retry-After'] : []),
          ...(operation.deprecated ? deprecationHeaders : []),
        ]),
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            examples: Object.fromEntries(errors.map((error) => [error.code, { value: exampleOf(area, error) }])),
          },
        },
      },
    ]),
  )
}

/** Whether an answer says when to try again. */
const isToBeRepeated = (status: number) => status === tooManyRequests.status || status === unavailable.status

function exampleOf(area: Area, { code, status, when }: ErrorDefinition) {
  const message = `${when.charAt(0).toUpperCase()}${when.slice(1)}.`
  const details = code === badRequest.code && status === badRequest.status ? { field: ['is required'] } : undefined
  const wait = isToBeRepeated(status) ? { retryAfter: 12 } : undefined
  return {
    error: {
      code,
      message,
      devMessage: message,
      source: sourceOf(area),
      ...((details ?? wait) && { details: details ?? wait }),
    },
  }
}

function sourceOf({ mount, host }: Area): Source {
  if (mount === 'management') return 'mgmt-api'
  return host === 'call' ? 'calls-api' : 'chat-api'
}

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'devMessage', 'source'],
      properties: {
        code: { type: 'string', description: 'What went wrong; go by this' },
        message: { type: 'string', description: 'Fit for an end user' },
        devMessage: { type: 'string', description: 'More for the developer' },
        source: { type: 'string', enum: ['chat-api', 'calls-api', 'mgmt-api'] },
        details: {
          type: 'object',
          description: 'Field path to sentences; `retryAfter` in seconds where trying again is worth it',
          additionalProperties: {
            anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'integer' }],
          },
        },
      },
    },
  },
}
