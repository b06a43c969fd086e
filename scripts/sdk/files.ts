import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { areas } from '../../server/src/areas/index.ts'
import type { Shape } from '../../server/src/dispatch/shape.ts'
import { documentedAreas } from '../../server/src/http/openapi.ts'
import { errorCatalogue, eventCatalogue } from '../../server/src/http/reference/catalogue.ts'
import { groupName, methodName } from './names.ts'
import { callersOf, operationText } from './operations.ts'
import { commentText, declarationText, literal, type Titled, typeText } from './type-text.ts'

/** The SDK's copy of what the server declares: records, operations, groups of them, error codes and events. */

const root = join(import.meta.dirname, '../..')
const head = '// Written by `npm run generate`; edit the declarations of the server instead.\n\n'

export const sdkFiles: Record<string, () => string> = {
  'sdk/src/generated/records.ts': () => formatted(recordsText()),
  'sdk/src/generated/operations.ts': () => formatted(operationsText()),
  'sdk/src/generated/groups.ts': () => formatted(groupsText()),
  'sdk/src/generated/error-codes.ts': () => formatted(errorCodesText()),
  'sdk/src/generated/events.ts': () => formatted(eventsText()),
}

const callable = documentedAreas(areas)

/** The name of an event, and what it carries; events that stay inside the server are left out. */
const live = eventCatalogue(areas)
  .filter(({ audience }) => audience.length > 0)
  .map(({ name, area }) => ({ name, payload: area.events.find((event) => event.name === name)?.payload as Shape }))

function operationsText(): string {
  const titled: Titled = new Map()
  const text = operationTexts(titled).join('\n\n')
  const shapes = ['CursorPage', 'ListOperation', 'Nothing', 'NumberedPage', 'Operation', 'Cursor']
  const used = shapes.filter((name) => isNamed(name, text))
  return `import type { ${used.toSorted().join(', ')} } from '../operation.ts'\n${importOf(titled, text)}\n${text}\n`
}

function operationTexts(titled: Titled): string[] {
  return callable.flatMap((area) => area.operations.map((operation) => operationText(area, operation, titled)))
}

/** All that operations and events name. */
function recordsText(): string {
  const titled: Titled = new Map()
  operationTexts(titled)
  for (const { payload } of live) typeText(payload, titled)
  return [...titled]
    .map(([name, shape]) => declarationText(name, shape, titled))
    .toSorted()
    .join('\n\n')
}

/** What an API key can call, and what a management key can, by area. */
function groupsText(): string {
  const apps = groupText('appGroups', 'By area, what an API key can call.', ['app', 'actor'])
  const management = groupText('managementGroups', 'By area, what a management key can call.', ['management'])
  return `import * as operations from './operations.ts'\n\n${apps}\n\n${management}\n`
}

function groupText(name: string, about: string, callers: string[]): string {
  const groups = callable.flatMap((area) => {
    const open = area.operations.filter((each) => callersOf(each).some((caller) => callers.includes(caller)))
    const methods = open.map(({ id }) => [methodName(area.name, id), id] as const)
    if (new Set(methods.map(([method]) => method)).size < methods.length) {
      throw new Error(`Two operations of ${area.name} go by one name.`)
    }
    const lines = methods.map(([method, id]) => `${method}: operations.${id}`)
    return lines.length > 0 ? [`${commentText(area.about)}${groupName(area.name)}: { ${lines.join(', ')} }`] : []
  })
  return `${commentText(about)}export const ${name} = { ${groups.join(',\n')} }`
}

function errorCodesText(): string {
  const codes = [...new Set(errorCatalogue(areas).map(({ code }) => code))]
  return `${commentText('What a server can answer as `error.code`.')}export type ErrorCode = ${codes.map(literal).join(' | ')}\n`
}

function eventsText(): string {
  const titled: Titled = new Map()
  const lines = live.map(({ name, payload }) => `${literal(name)}: ${typeText(payload, titled)}`)
  const text = `${commentText('What each event carries that somebody hears live, by its name in the log.')}export interface EventPayloads {\n${lines.join('\n')}\n}\n`
  return `${importOf(titled, text)}\n${text}`
}

/** The import line for those records that a text names. */
function importOf(titled: Titled, text: string): string {
  const used = [...titled.keys()].filter((name) => isNamed(name, text)).toSorted()
  return used.length > 0 ? `import type { ${used.join(', ')} } from './records.ts'\n` : ''
}

const isNamed = (name: string, text: string) => new RegExp(`\\b${name}\\b`).test(text)

/** As the formatter of the repository writes it. */
function formatted(text: string): string {
  const words = ['check', '--write', '--stdin-file-path=generated.ts']
  const { status, stdout, stderr } = spawnSync(join(root, 'node_modules/.bin/biome'), words, {
    cwd: root,
    encoding: 'utf8',
    input: head + text,
  })
  if (status !== 0) throw new Error(`Generated code could not be formatted:\n${stderr}`)
  return stdout
}
