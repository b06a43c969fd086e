/** Whether this is the run between two edits. */
export const isQuick = process.env.PARLEY_TEST_QUICK === 'true'

/** For a test that takes seconds and is not the first to break: the quick run says that it leaves it out. */
export const thorough = { skip: isQuick && 'left to npm test' }
