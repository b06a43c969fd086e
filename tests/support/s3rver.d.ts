/** The package brings no types. */
declare module 's3rver' {
  import type { RequestListener } from 'node:http'

  // biome-ignore lint/style/noDefaultExport: the package has no other
  export default class S3rver {
    constructor(options: { directory: string; silent: boolean })
    callback(): RequestListener
  }
}
