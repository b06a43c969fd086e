import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import {
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'

/** Only loaded when a certificate has to be made, so that ordinary starts do not pay for it. */

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const dayMilliseconds = 24 * 3600 * 1000
// Clocks of clients may be a little behind.
const backdatedMilliseconds = 3_600_000

interface Pair {
  cert: string
  key: string
}

export async function issue(
  names: string[],
  known: Pair | undefined,
  { caDays, leafDays }: { caDays: number; leafDays: number },
): Promise<{ authority: Pair; leaf: Pair }> {
  cryptoProvider.set(webcrypto as never)
  const authority = known ?? (await makeAuthority(caDays))
  return { authority, leaf: await makeLeaf(names, authority, leafDays) }
}

async function makeAuthority(days: number): Promise<Pair> {
  const keys = await newKeys()
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    // Its own: of two with one name that a machine trusts, a client may hold a certificate against the wrong one.
    name: `CN=Parley local authority ${webcrypto.randomUUID().slice(0, 8)}`,
    ...validity(days),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  })
  return { cert: `${certificate.toString('pem')}\n`, key: await exportKey(keys.privateKey) }
}

async function makeLeaf(names: string[], authority: Pair, days: number): Promise<Pair> {
  const keys = await newKeys()
  const issuer = new X509Certificate(authority.cert)
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: 'CN=Parley',
    issuer: issuer.subject,
    ...validity(days),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: await importKey(authority.key),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([
        ...names.map((value) => ({ type: 'dns' as const, value })),
        { type: 'ip', value: '127.0.0.1' },
        { type: 'ip', value: '::1' },
      ]),
    ],
  })
  return { cert: `${certificate.toString('pem')}\n`, key: await exportKey(keys.privateKey) }
}

function newKeys() {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

function validity(days: number) {
  return {
    notBefore: new Date(Date.now() - backdatedMilliseconds),
    notAfter: new Date(Date.now() + days * dayMilliseconds),
  }
}

function serial(): string {
  const bytes = Buffer.from(webcrypto.getRandomValues(new Uint8Array(16)))
  // A serial number is positive.
  bytes[0] = (bytes[0] ?? 0) & 0x7f
  return bytes.toString('hex')
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  return `${PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')}\n`
}

function importKey(pem: string) {
  return webcrypto.subtle.importKey('pkcs8', PemConverter.decodeFirst(pem), algorithm, true, ['sign'])
}
