/** Whether this is the run between two edits. */
export const isQuick = process.env.PARLEY_TEST_QUICK === 'true'

const isEnduring = process.env.PARLEY_TEST_ENDURANCE === 'true'

/** How often a search is made that could go on for ever: so often in every run, and so often in `npm run endurance`. */
export function times(usual: number, enduring: number): number {
  return isEnduring ? enduring : usual
}

/** For a test that takes seconds and is not the first to break: the quick run says that it leaves it out. */
export const thorough = { skip: isQuick && 'left to npm test' }
