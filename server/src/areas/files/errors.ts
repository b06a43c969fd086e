import { ApiError, defineError } from '../../kit/errors.ts'

export const fileTooLarge = defineError<{ bytesMax: number }>(
  'ERR_FILE_SIZE_EXCEEDED',
  413,
  'a file, or all files of the request together, are larger than allowed',
  ({ bytesMax }) => `Files may have ${bytesMax} bytes, and no more.`,
)

export const tooManyFiles = defineError<{ countMax: number }>(
  'ERR_FILE_COUNT_EXCEEDED',
  400,
  'there are more files than a message may have',
  ({ countMax }) => `There may be ${countMax} files at once, and no more.`,
)

export const addressExpired = defineError(
  'ERR_PRESIGNED_URL_EXPIRED',
  403,
  'the address of a file was valid for a time, which is over',
  () => 'This address is no longer valid; ask for a new one.',
)

const noRoom = {
  code: 'ERR_S3_UPLOAD_FAILED',
  status: 507,
  when: 'the file store is full',
}

/** The cause is for the log. */
export const storageFailed = Object.assign(
  (cause: unknown) => {
    const error = isFull(cause)
      ? new ApiError(noRoom.code, noRoom.status, 'There is no room for the file at the moment; try again later.')
      : new ApiError('ERR_S3_UPLOAD_FAILED', 500, 'The file could not be stored; try again.')
    return Object.assign(error, { cause })
  },
  { code: 'ERR_S3_UPLOAD_FAILED', status: 500, when: 'the file store is in trouble' },
)

function isFull(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && /^(ENOSPC|EDQUOT)$/.test(String(cause.code))
}

/** What an operation that takes files can answer besides its own failures. */
export const receptionErrors = [fileTooLarge, tooManyFiles, storageFailed, noRoom]
