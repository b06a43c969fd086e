import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { importDirectly } from './plain/direct-imports.ts'

// Both are for what is loaded after them: to compile each file anew, and to look for it, would be most of a start.
enableCompileCache(fileURLToPath(new URL('../../.runtime/compile-cache', import.meta.url)))
importDirectly()

// Whatever is made from here on holds what is nobody else's business.
process.umask(0o077)

const { parley } = await import('./cli/parley.ts')
await parley(process.argv.slice(2), process.env)
