/** A test file's name tells its kind. */
export type Kind = (typeof kinds)[number]

const kinds = [
  /** What holds for the whole house, and for each of its parts. */
  'rules',
  /** What an area promises. */
  'areas',
  /** Tables gone through from end to end: every operation, every role, every way of writing a request. */
  'sweep',
  /** An install as an operator has it: commands, processes, files, services that go away. */
  'install',
  /** The chat page as people see it, in a browser. */
  'page',
  /** Searches that could go on for ever, and what takes very much: bounded in a usual run, longer when asked for. */
  'endurance',
  /** Measures, and needs the machine for itself. */
  'alone',
] as const

const suffix = /\.([\w-]+)\.test\.ts$/
const suffixed: readonly string[] = ['sweep', 'install', 'page', 'endurance', 'alone'] satisfies Kind[]

export function kindOf(file: string): Kind {
  const told = suffix.exec(file)?.[1]
  if (told === undefined) return file.startsWith('server/src/areas/') ? 'areas' : 'rules'
  if (!suffixed.includes(told)) throw new Error(`${file}: "${told}" is no kind of test.`)
  return told as Kind
}

export function isKind(word: string): word is Kind {
  return (kinds as readonly string[]).includes(word)
}
