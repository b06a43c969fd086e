import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

/** What `npm ci` needs on every platform and with every npm that people have. */

interface Locked {
  version?: string
  resolved?: string
  link?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

const file = join(import.meta.dirname, '../package-lock.json')
const packages: Record<string, Locked> = JSON.parse(readFileSync(file, 'utf8')).packages

/** Where a package would be found that another one needs: in its own folder, or in one further up. */
function placesFor(name: string, neededBy: string): string[] {
  const folders = neededBy === '' ? [] : neededBy.split('/node_modules/')
  const above = folders.map((_, n) => `${folders.slice(0, n + 1).join('/node_modules/')}/node_modules/${name}`)
  return [`node_modules/${name}`, ...above]
}

describe('package-lock.json', () => {
  it('has an entry for every package that is named in it, also for those of other platforms', () => {
    const missing = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies })
        .filter((name) => !placesFor(name, path).some((place) => packages[place]))
        .map((name) => `${name}, for ${path}`),
    )
    assert.deepEqual(missing, [], 'npm leaves out what the registry cannot deliver; see decision 0010')
  })

  it('names no registry', () => {
    const resolved = Object.values(packages).filter((each) => each.resolved !== undefined && !each.link)
    assert.deepEqual(resolved, [])
  })
})
