import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { authorityFile } from '../certificates.ts'

/** The certificate authority of an install, as stores of certificates know it. */
export interface Authority {
  file: string
  pem: string
  /** Hexadecimal, without colons. */
  sha256: string
  sha1: string
  /** No other install on the machine has it. */
  fileName: string
  nickname: string
}

const digitsInNames = 16

/** That of a data folder; undefined if there is none. */
export function authorityIn(folder: string): Authority | undefined {
  const file = resolve(folder, authorityFile)
  if (!existsSync(file)) return undefined
  const pem = readFileSync(file, 'utf8')
  const { fingerprint, fingerprint256 } = new X509Certificate(pem)
  const sha256 = fingerprint256.replaceAll(':', '').toLowerCase()
  const mark = sha256.slice(0, digitsInNames)
  return {
    ...{ file, pem, sha256 },
    sha1: fingerprint.replaceAll(':', '').toLowerCase(),
    fileName: `parley-${mark}`,
    nickname: `Parley local authority ${mark}`,
  }
}
