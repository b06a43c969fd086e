import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'

/** One word, one meaning: whoever meets the name of a type in one file may take it for the same in another. */

const declared = /^export (?:declare )?(?:interface|type|class) ([A-Z]\w*)/gm

describe('the names of types', () => {
  it('stand for one thing each, wherever they are used', () => {
    const filesByName = new Map<string, Set<string>>()
    for (const file of globSync('server/src/**/*.ts').filter((each) => !each.endsWith('.test.ts'))) {
      for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(declared)) {
        filesByName.set(name, (filesByName.get(name) ?? new Set()).add(file))
      }
    }
    assert.ok(filesByName.size > 300, 'types are not found')
    assert.deepEqual(
      [...filesByName].filter(([, files]) => files.size > 1).map(([name, files]) => [name, ...files]),
      [],
    )
  })
})
