import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ownerOnly = 0o600
const nobody = 65_534
const prefix = 'parley-media-'

/** Whom engines run as: they read what strangers send, so where this process is root they are nobody. */
export function engineUser(uid: number | undefined): number | undefined {
  return process.getuid?.() === 0 ? (uid ?? nobody) : undefined
}

/**
 * A folder for one start of an engine, with its files, which hold secrets: nobody but its user can look into it. It is not in
 * the data folder, which that user cannot open.
 */
export function makeRuntimeFolder(files: (folder: string) => Record<string, string>, uid: number | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), prefix))
  for (const [name, text] of Object.entries(files(folder))) {
    writeFileSync(join(folder, name), text, { mode: ownerOnly, flag: 'wx' })
    if (uid !== undefined) chownSync(join(folder, name), uid, uid)
  }
  if (uid !== undefined) chownSync(folder, uid, uid)
  return folder
}

export function removeRuntimeFolder(folder: string): void {
  // Whatever the remembered name is, nothing else is removed.
  if (folder.startsWith(join(tmpdir(), prefix))) rmSync(folder, { recursive: true, force: true })
}
