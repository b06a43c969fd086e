import { type ApiError, badRequest } from '../kit/errors.ts'

// A client may begin with small pieces, and networks cut as they like; nobody sends thousands of a few bytes by mistake.
const piecesMin = 4_096
const bytesPerPieceMin = 16

/**
 * Every piece of a body costs the same, however small: in pieces of a byte, a few megabytes a second would keep the server
 * busy. Answers what is told to a client that sends so, from the moment that it is plain.
 */
export function watchForCrumbs(): (chunk: Uint8Array) => ApiError | undefined {
  let [pieces, bytes] = [0, 0]
  return (chunk) => {
    pieces += 1
    bytes += chunk.length
    if (pieces < piecesMin || bytes >= pieces * bytesPerPieceMin) return undefined
    return badRequest({ body: [`must not come in thousands of pieces of less than ${bytesPerPieceMin} bytes`] })
  }
}
