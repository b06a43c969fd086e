import { setImmediate as nextTurn } from 'node:timers/promises'

const portionBytes = 262_144

/**
 * Content as it comes, with a rest for others after each portion: bytes that are there already are taken and hashed without
 * a break, however many there are, and nobody else is heard meanwhile.
 */
export async function* inPortions(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let taken = 0
  for await (const chunk of content) {
    yield chunk
    taken += chunk.length
    if (taken < portionBytes) continue
    taken = 0
    await nextTurn()
  }
}
