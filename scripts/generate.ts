import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { areas } from '../server/src/areas/index.ts'
import { rolePermissions } from '../server/src/areas/rbac/catalogue.ts'
import type { Kind, Permission, PermissionValue } from '../server/src/areas/rbac/permissions.ts'
import { memberScopes, scopeCatalogues } from '../server/src/areas/scope-permissions/catalogue.ts'
import { openApiDocument } from '../server/src/http/openapi.ts'
import { type CataloguedEvent, errorCatalogue, eventCatalogue } from '../server/src/http/reference/catalogue.ts'
import type { ReferenceField } from '../server/src/http/reference/fields.ts'
import { sdkFiles } from './sdk/files.ts'

/** Writes docs/generated, and what the SDK knows of the server, from the declarations; with --check it only tells what is stale. */

const root = join(import.meta.dirname, '..')

/** Where an install is reached that nobody has set up otherwise. */
const usualPlace = { region: 'us', domain: 'localhost', port: 8443 }

export const generatedFiles: Record<string, () => string> = {
  'docs/generated/openapi.json': () => `${JSON.stringify(openApiDocument(areas, usualPlace), null, 2)}\n`,
  'docs/generated/errors.md': errorsText,
  'docs/generated/events.md': eventsText,
  'docs/generated/permissions.md': permissionsText,
  ...sdkFiles,
}

/** Files that are not what the declarations say now. */
export function staleFiles(): string[] {
  return Object.entries(generatedFiles)
    .filter(([file, make]) => !existsSync(join(root, file)) || readFileSync(join(root, file), 'utf8') !== make())
    .map(([file]) => file)
}

function errorsText(): string {
  const rows = errorCatalogue(areas).map((error) => {
    const where = error.reach ?? error.operations.map(({ id }) => `\`${id}\``).join(', ')
    return row(`\`${error.code}\``, String(error.status), error.when, where)
  })
  return page(
    'Errors',
    'Go by `error.code`; the sentences of an answer are for people and may change.',
    table(['Code', 'HTTP', 'When', 'Operations'], rows),
  )
}

function eventsText(): string {
  const events = eventCatalogue(areas)
  const about = 'What can happen, what it carries, who sees it live and how a webhook tells it.'
  return page('Events', about, events.map(eventText).join('\n\n'))
}

function eventText({ name, area, fields, audience, triggers }: CataloguedEvent): string {
  const live = audience.length > 0 ? audience.map((channel) => `\`${channel}\``).join(', ') : 'stays inside the server'
  return [
    `## \`${name}\``,
    `Area: ${area.name}. Live: ${live}. Webhook: ${triggers.length > 0 ? triggers.map((each) => `\`${each}\``).join(', ') : 'none'}.`,
    table(['Field', 'Type', 'Always', 'About'], fields.map(fieldRow)),
  ].join('\n\n')
}

function permissionsText(): string {
  const about =
    'What a role can be allowed or denied in the whole app, and a scope in one group. How they are decided is told in ' +
    '[docs/permissions.md](../permissions.md). ' +
    '`older`: no longer published, and still held to.'
  const ofRoles = Object.entries(rolePermissions).map(([id, entry]) =>
    row(`\`${id}\``, valuesText(entry.kind), valueText(entry.kind.defaultValue), entry.description, markOf(entry)),
  )
  const ofScopes = Object.entries(scopeCatalogues.admin).map(([id, entry]) => {
    const kinds = memberScopes.map((scope) => Object(scopeCatalogues[scope])[id].kind as Kind)
    const published = perScope(kinds.map(({ defaultValue }) => defaultValue))
    const inForce = perScope(kinds.map(({ defaultValue, unset = defaultValue }) => unset))
    return row(`\`${id}\``, valuesText(entry.kind), published, inForce, entry.description, markOf(entry))
  })
  const scopes = memberScopes.join(', ')
  return page(
    'Permissions',
    about,
    [
      `## Of a role (${ofRoles.length})`,
      table(['Id', 'Values', 'Default', 'About', ''], ofRoles),
      `## Of a scope in a group (${ofScopes.length})`,
      `Three words stand for ${scopes}. What holds while nothing is set is what the group’s own rules make of the act.`,
      table(['Id', 'Values', 'Default', 'While unset', 'About', ''], ofScopes),
    ].join('\n\n'),
  )
}

function valuesText({ dataType, availableValues }: Kind): string {
  if (dataType === 'rolesStringArray') return 'list of roles'
  if (dataType === 'customStringArray') return 'list of words'
  const words = (availableValues ?? []).map((word) => `\`${word}\``).join(', ')
  return dataType === 'string' ? words : `list of ${words}`
}

function valueText(value: PermissionValue): string {
  return Array.isArray(value) ? '`[]`' : `\`${value}\``
}

/** One value where all scopes have the same. */
function perScope(values: PermissionValue[]): string {
  const words = values.map(valueText)
  return new Set(words).size === 1 ? (words[0] ?? '') : words.join(' / ')
}

function markOf({ older }: Permission): string {
  return older ? 'older' : ''
}

function fieldRow({ path, type, required, description, values, limits }: ReferenceField): string {
  const listed = values.map((value) => `\`${value}\``).join(', ')
  const about = [description, listed, limits.join(', ')].filter((part) => part !== '').join('; ')
  return row(`\`${path}\``, type, required ? 'yes' : 'no', about)
}

function page(title: string, about: string, content: string): string {
  return `<!-- Written by \`npm run generate\`; edit the declarations instead. -->\n\n# ${title}\n\n${about}\n\n${content}\n`
}

function table(heads: string[], rows: string[]): string {
  return [row(...heads), row(...heads.map(() => '---')), ...rows].join('\n')
}

function row(...cells: string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function writeAll(): void {
  for (const [file, make] of Object.entries(generatedFiles)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), make())
    console.log(`wrote ${file}`)
  }
}

function check(): void {
  const stale = staleFiles()
  for (const file of stale) console.error(`${file} is stale; run npm run generate`)
  process.exitCode = stale.length === 0 ? 0 : 1
}

if (import.meta.main) {
  if (process.argv.includes('--check')) check()
  else writeAll()
}
