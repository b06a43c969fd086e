import type { Shape } from '../../dispatch/shape.ts'
import type { Area } from '../../kit/area.ts'
import type { Operation } from '../../kit/operation.ts'
import { documentedPath } from '../openapi.ts'
import { leastSampleOf } from './sample.ts'

/** A command to paste into a shell; what differs from install to install are variables. */
export function curlOf(area: Area, operation: Operation): string {
  const { method, hasBody, body, query, door, onBehalfOf } = operation
  const host = door === 'management' ? 'apimgmt.$DOMAIN' : `$APP_ID.${area.host}-$REGION.$DOMAIN`
  const path = documentedPath(area, operation).replaceAll(/\{(\w+)\}/g, (_, name) => `$${shellName(name)}`)
  const search = (query as Shape).properties?.perPage ? '?perPage=10' : ''
  const sent = JSON.stringify(leastSampleOf(body as Shape)).replaceAll("'", "'\\''")
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"https://${host}${path}${search}"`,
    ...(door === 'management'
      ? ['-H "key: $MANAGEMENT_KEY"', '-H "secret: $MANAGEMENT_SECRET"']
      : ['-H "apikey: $API_KEY"']),
    ...(onBehalfOf === 'required' ? ['-H "onBehalfOf: $ACTING_UID"'] : []),
    ...(hasBody ? ["-H 'content-type: application/json'", `-d '${sent}'`] : []),
  ].join(' \\\n  ')
}

/** `sessionId` becomes `SESSION_ID`; a key in a path is not the key that calls. */
function shellName(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
  return words === 'API_KEY' ? 'OTHER_API_KEY' : words
}
