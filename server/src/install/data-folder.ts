import { chmodSync, lstatSync, mkdirSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../config.ts'

/**
 * The data folder holds everything that is secret about an install, so nobody but its owner can open it or anything in it.
 * What was made more widely readable is closed, if it is ours to close; else the start is refused.
 */

const ownerOnlyFolder = 0o700
const ownerOnlyFile = 0o600
const groupAndOthers = 0o077
const othersWrite = 0o002
const sticky = 0o1000

const ownFile =
  /^(parley\.sqlite|server\.lock)(-\w+)?$|^master\.key$|^(ca|server)(-key)?\.pem$|^(credentials|clock)\.json$/
const ownFolders = ['files', join('files', 'incoming'), 'media']
// What a file system of its own has in its root.
const nobodysFolder = 'lost+found'

export function openDataFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: ownerOnlyFolder })
  closeDataFolder(folder)
  for (const name of readdirSync(folder)) if (ownFile.test(name)) closeFile(join(folder, name))
  for (const name of ownFolders) {
    const inside = join(folder, name)
    if (statOf(inside)?.isDirectory()) closeFolder(inside)
  }
}

/** Somebody may have meant another folder: one that others use is not closed to them. */
function closeDataFolder(folder: string): void {
  const mode = statOf(folder)?.mode ?? 0
  if ((mode & groupAndOthers) === 0) return
  const contents = readdirSync(folder).filter((name) => name !== nobodysFolder)
  const isForeign = contents.length > 0 && !contents.some((name) => ownFile.test(name))
  if (isForeign || mode & sticky) {
    throw new ConfigError(
      `PARLEY_DATA names a folder that others can open and that is not Parley's: ${folder}. ` +
        `Choose a folder of its own, or run: chmod 700 ${folder}`,
    )
  }
  closeFolder(folder)
}

/** A folder that belongs to another user may stay open, unless anybody can put something into it: its files are closed. */
function closeFolder(path: string): void {
  const mode = statOf(path)?.mode ?? 0
  if ((mode & groupAndOthers) === 0 || changeMode(path, ownerOnlyFolder) || (mode & othersWrite) === 0) return
  throw new ConfigError(`Everybody can write to ${path}, and it belongs to another user. Run: chmod 700 ${path}`)
}

function closeFile(path: string): void {
  const stats = statOf(path)
  if (!stats?.isFile() || (stats.mode & groupAndOthers) === 0 || changeMode(path, ownerOnlyFile)) return
  throw new ConfigError(`Others can read ${path}, and it belongs to another user. Run: chmod 600 ${path}`)
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

/** Whether it could be done. */
function changeMode(path: string, mode: number): boolean {
  try {
    chmodSync(path, mode)
    return true
  } catch (error) {
    // A file that is gone needs no mode; the embedded database takes some away when it closes.
    return (error as { code?: string }).code === 'ENOENT'
  }
}
