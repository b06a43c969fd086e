const nameCharactersMax = 255
const extensionShape = /\.([A-Za-z0-9]{1,16})$/
// Control characters, and marks that turn the direction of text: with them `exe.jpg` can be shown for `gpj.exe`.
const unwanted = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu

/** A file name as it is kept and shown: no folders, nothing that cannot be seen. It never names anything on a disk. */
export function cleanName(sent: string): string {
  const last = sent.split(/[/\\]/).at(-1) ?? ''
  const clean = last.toWellFormed().replaceAll(unwanted, '').trim()
  const name = shortened(clean)
  return /^\.*$/.test(name) ? 'file' : name
}

/** The end of a name tells what the file is, so a long name is cut before it. */
function shortened(name: string): string {
  if (name.length <= nameCharactersMax) return name
  const ending = extensionShape.exec(name)?.[0] ?? ''
  return `${name.slice(0, nameCharactersMax - ending.length).replace(/[\ud800-\udbff]$/, '')}${ending}`
}

/** What a name says the file is, without the dot; nothing if it says nothing. */
export function extensionOf(name: string): string | undefined {
  return extensionShape.exec(name)?.[1]?.toLowerCase()
}

/** The same for a file that must have one: nobody has to name a file so that it can be sent. */
export function extensionFor(name: string, mimeType: string): string {
  return extensionOf(name) ?? (mimeType === 'text/plain' ? 'txt' : 'bin')
}
