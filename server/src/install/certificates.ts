import { X509Certificate as NodeCertificate } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { regions } from '../plain/regions.ts'

/** A local certificate authority, and a certificate signed by it for every host name of the install. */
export interface Certificates {
  cert: string
  key: string
  /** What clients have to trust. */
  caFile: string
}

export const authorityFile = 'ca.pem'

const caDays = 3_650
const leafDays = 398
const renewDaysBefore = 30
const dayMilliseconds = 24 * 3600 * 1000

/** Every name that a documented address can have. */
export function hostNames(domain: string): string[] {
  const ofRegions = regions.flatMap((region) => namesOfRegion(region, domain))
  return [...new Set([domain, `apimgmt.${domain}`, 'localhost', ...ofRegions])]
}

function namesOfRegion(region: string, domain: string): string[] {
  const chat = `api-${region}.${domain}`
  return [`*.${chat}`, `*.apiclient-${region}.${domain}`, `*.call-${region}.${domain}`, chat]
}

/** The names of an install in one region that a certificate of the operator's own is not made out to. */
export function namesMissing(cert: string, region: string, domain: string): string[] {
  const certificate = new NodeCertificate(cert)
  const wanted = [...namesOfRegion(region, domain), `apimgmt.${domain}`]
  return wanted.filter((name) => certificate.checkHost(name.replace('*', 'app')) === undefined)
}

/** The stored certificates, made or renewed where that is needed. */
export async function localCertificates(folder: string, domain: string): Promise<Certificates> {
  const files = {
    ca: join(folder, authorityFile),
    caKey: join(folder, 'ca-key.pem'),
    cert: join(folder, 'server.pem'),
    key: join(folder, 'server-key.pem'),
  }
  if (!Object.values(files).every(existsSync) || isOutdated(readFileSync(files.cert, 'utf8'), domain)) {
    const { issue } = await import('./issue-certificates.ts')
    const authority = existsSync(files.ca) && existsSync(files.caKey) ? readPair(files.ca, files.caKey) : undefined
    const issued = await issue(hostNames(domain), authority, { caDays, leafDays })
    write(files.ca, issued.authority.cert)
    write(files.caKey, issued.authority.key)
    write(files.cert, issued.leaf.cert)
    write(files.key, issued.leaf.key)
  }
  return { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8'), caFile: files.ca }
}

function isOutdated(cert: string, domain: string): boolean {
  const parsed = new NodeCertificate(cert)
  const names = (parsed.subjectAltName ?? '').split(', ')
  const covered = hostNames(domain).every((name) => names.includes(`DNS:${name}`))
  return !covered || Date.parse(parsed.validTo) - Date.now() < renewDaysBefore * dayMilliseconds
}

function readPair(cert: string, key: string) {
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
}

function write(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 })
}
