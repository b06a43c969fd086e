import { importDirectly } from './plain/direct-imports.ts'

// Whatever is made here holds what is nobody else's business.
process.umask(0o077)

// What is imported at the top of this file is found the long way.
importDirectly()
const { parley } = await import('./cli/parley.ts')
await parley(process.argv.slice(2), process.env)
