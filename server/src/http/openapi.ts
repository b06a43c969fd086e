import type { Area } from '../kit/area.ts'
import { badRequest, type ErrorDefinition } from '../kit/errors.ts'
import type { Operation } from '../kit/operation.ts'
import { userNotFound } from '../areas/users/errors.ts'
import {
  apiKeyUnknown,
  apiNotFound,
  bodyTooLarge,
  invalidAppId,
  invalidVersion,
  noAccess,
  noApiKey,
  noAppId,
  noManagementCredentials,
  plainHttpRefused,
  tooManyRequests,
  unexpected,
} from './errors.ts'

/** The API as an OpenAPI 3.1 document, made from the declarations that the server itself runs on. */

const version = '3.0.0'
const regionVariable = { default: 'us', enum: ['us', 'eu', 'in'], description: 'Data-centre region' }
const domainVariable = { default: 'localhost:8443', description: 'Domain of the install' }
const appVariable = { default: 'app', description: 'The app id' }

const servers = {
  api: {
    url: 'https://{appId}.api-{region}.{domain}',
    description: 'Chat host of an app',
    variables: { appId: appVariable, region: regionVariable, domain: domainVariable },
  },
  call: {
    url: 'https://{appId}.call-{region}.{domain}',
    description: 'Calls host of an app',
    variables: { appId: appVariable, region: regionVariable, domain: domainVariable },
  },
  management: {
    url: 'https://apimgmt.{domain}',
    description: 'Management host',
    variables: { domain: domainVariable },
  },
}

const prefixes: Record<Area['mount'], string> = { v3: '/v3', management: '', emulator: '/_emulator' }

/** Where an operation is found, as the document names it. */
export function documentedPath(area: Area, operation: Operation): string {
  return `${prefixes[area.mount]}${operation.path}`
}

export function openApi(areas: Area[]): string {
  return JSON.stringify(openApiDocument(areas))
}

export function openApiDocument(areas: Area[]) {
  const shown = areas.filter((area) => area.operations.length > 0)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const area of shown) {
    for (const operation of area.operations) {
      const path = documentedPath(area, operation)
      paths[path] ??= { servers: [area.mount === 'management' ? servers.management : servers[area.host]] }
      paths[path][operation.method.toLowerCase()] = operationObject(area, operation)
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
    servers: [servers.api],
    tags: shown.map(({ name, about }) => ({ name, description: about })),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'apikey', description: 'An API key of the app' },
        managementKey: { type: 'apiKey', in: 'header', name: 'key', description: 'First half of a management pair' },
        managementSecret: { type: 'apiKey', in: 'header', name: 'secret', description: 'Second half of the pair' },
        managementBasic: { type: 'http', scheme: 'basic', description: 'The same pair as HTTP Basic' },
      },
      schemas: { Error: errorSchema },
    },
  }
}

function operationObject(area: Area, operation: Operation) {
  const { id, summary, description, hasBody, body, reply, deprecated } = operation
  return {
    operationId: id,
    tags: [area.name],
    summary,
    ...(description && { description }),
    ...(deprecated && { deprecated: true }),
    security:
      operation.door === 'management'
        ? [{ managementKey: [], managementSecret: [] }, { managementBasic: [] }]
        : [{ apiKey: [] }],
    parameters: parametersOf(operation),
    ...(hasBody && { requestBody: { required: isRequired(body), content: { 'application/json': { schema: body } } } }),
    responses: {
      200: { description: 'Success', content: { 'application/json': { schema: reply } } },
      ...errorResponses(operation),
    },
  }
}

function isRequired(body: object): boolean {
  return ((body as { required?: string[] }).required ?? []).length > 0
}

function parametersOf({ path, query, onBehalfOf, method }: Operation): object[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const properties = Object.entries((query as { properties?: Record<string, object> }).properties ?? {})
  const inQuery = properties.map(([name, schema]) => ({ name, in: 'query', required: false, schema }))
  const acting = {
    name: 'onBehalfOf',
    in: 'header',
    required: onBehalfOf === 'required',
    description: 'UID of the user to act as',
    schema: { type: 'string' },
  }
  const repeatable = {
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

/** Every failure an operation can meet: those of the pipeline that apply to it, and its own. */
export function errorsOf(operation: Operation): ErrorDefinition[] {
  const { door, keys, onBehalfOf, errors, method } = operation
  const doorErrors =
    door === 'management'
      ? [noManagementCredentials, apiKeyUnknown]
      : [noAppId, invalidAppId, noApiKey, apiKeyUnknown, invalidVersion]
  return [
    plainHttpRefused,
    ...doorErrors,
    ...(door === 'server' && !keys.includes('authOnly') ? [noAccess] : []),
    tooManyRequests,
    apiNotFound,
    ...(method === 'GET' ? [] : [bodyTooLarge]),
    ...(onBehalfOf === 'unsupported' ? [] : [userNotFound]),
    badRequest,
    ...errors,
    unexpected,
  ]
}

function errorResponses(operation: Operation): Record<string, object> {
  const byStatus = Map.groupBy(errorsOf(operation), ({ status }) => status)
  return Object.fromEntries(
    [...byStatus].map(([status, errors]) => [
      status,
      {
        description: errors.map(({ code, when }) => `\`${code}\`: ${when}`).join('; '),
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            examples: Object.fromEntries(errors.map((error) => [error.code, { value: exampleOf(error) }])),
          },
        },
      },
    ]),
  )
}

function exampleOf({ code, when }: ErrorDefinition) {
  return { error: { code, message: when, devMessage: when, source: 'chat-api' } }
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
          description: 'Field path to sentences; `retryAfter` in seconds when there were too many requests',
          additionalProperties: {
            anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'integer' }],
          },
        },
      },
    },
  },
}
