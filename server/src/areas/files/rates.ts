import type { Rate } from '../../kit/limits.ts'

export const uploadRate: Rate = {
  name: 'upload',
  seconds: 3600,
  setting: { variable: 'PARLEY_LIMIT_UPLOADS', about: 'Files an hour that a user may upload', usual: 300 },
}

export const uploadByteRate: Rate = {
  name: 'uploadByte',
  seconds: 3600,
  setting: {
    variable: 'PARLEY_LIMIT_UPLOAD_MEGABYTES',
    about: 'Megabytes an hour that a user may upload',
    usual: 1_000,
  },
  times: 1_000_000,
}
