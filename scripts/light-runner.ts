import hooks from 'node:async_hooks'
import { importDirectly } from '../server/src/plain/direct-imports.ts'
import { tellTimes } from './test-times.ts'

/**
 * Loaded before the test runner, which by itself follows every promise of a test, to tell which of the tests an error
 * belongs to that nobody has caught: a fifth of all the time that tests take. It is left to follow its own suites and
 * tests, which is how it knows what is part of what. An error that nobody has caught fails its file instead, and shows
 * here where it comes from.
 */

// Each process of tests loads the server.
importDirectly()
tellTimes()

const { createHook } = hooks

type Callbacks = Parameters<typeof createHook>[0]

hooks.createHook = ({ init }: Callbacks) => {
  process.on('uncaughtExceptionMonitor', (error) => console.error(error))
  process.on('unhandledRejection', (error) => console.error(error))
  return createHook({
    trackPromises: false,
    init(id, type, triggerId, resource) {
      if (type === 'Test') init?.(id, type, triggerId, resource)
    },
  } as Callbacks)
}
