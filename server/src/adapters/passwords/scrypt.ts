import { randomBytes, scrypt as scryptWithCallback, timingSafeEqual } from 'node:crypto'
import type { Passwords } from '../../kit/ports.ts'

/** What a hash costs; each one names it, so that a higher one later leaves the earlier ones valid. */
export interface Cost {
  N: number
  r: number
  p: number
}

// What is advised today where memory counts: 32 MiB, and about a quarter of a second.
const advised: Cost = { N: 2 ** 15, r: 8, p: 3 }
const memoryMax = 2 ** 26
const saltBytes = 16
const keyBytes = 32

function scrypt(password: string, salt: Buffer, { N, r, p }: Cost): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    scryptWithCallback(password.normalize('NFC'), salt, keyBytes, { N, r, p, maxmem: memoryMax }, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )
}

/** Passwords as salted hashes by scrypt, made on the threads of the runtime. */
export function scryptPasswords(cost = advised): Passwords {
  return {
    async hash(password) {
      const salt = randomBytes(saltBytes)
      const key = await scrypt(password, salt, cost)
      return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64'), key.toString('base64')].join('$')
    },
    async compare(password, hash) {
      const { salt, key, ...made } = partsOf(hash)
      const fits = timingSafeEqual(await scrypt(password, salt, made), key)
      return { fits, isDated: made.N * made.r * made.p < cost.N * cost.r * cost.p }
    },
  }
}

/** The first hashes name nothing but N. */
function partsOf(hash: string): Cost & { salt: Buffer; key: Buffer } {
  const [, N, ...rest] = hash.split('$')
  const [key = '', salt = '', p = 1, r = 8] = rest.toReversed()
  const bytes = (text: string) => Buffer.from(text, 'base64')
  return { N: Number(N), r: Number(r), p: Number(p), salt: bytes(salt), key: bytes(key) }
}
