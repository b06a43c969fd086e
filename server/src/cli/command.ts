import type { ParseArgsOptionsConfig } from 'node:util'
import { pino } from 'pino'
import { type House, type HouseOptions, installExists, openHouse } from '../compose.ts'
import type { Config } from '../config.ts'

/** What a command leaves: text for people, data for programs, and whether all is well. */
export interface CommandOutcome {
  text: string
  data: unknown
  /** False makes the exit code 1. */
  ok?: boolean
}

export interface Invocation {
  config: Config
  words: string[]
  flags: Record<string, string | boolean | undefined>
  json: boolean
}

/** A flag of one command, with what it is for. */
export type Option = ParseArgsOptionsConfig[string] & { about: string }

export interface Command {
  name: string
  /** One line for each way to call it. */
  usage: string[]
  about: string
  options?: Record<string, Option>
  /** Whether its help lists the settings too. */
  showsSettings?: boolean
  run(invocation: Invocation): Promise<CommandOutcome | undefined>
}

/** The command was called wrongly; the exit code is 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** The same, on an install that exists: a mistyped folder must not look like a healthy, empty install. */
export function withExistingHouse<T>(config: Config, work: (house: House) => Promise<T>): Promise<T> {
  if (!installExists(config)) throw new UsageError(`There is no install in ${config.data}; set PARLEY_DATA.`)
  return withHouse(config, work)
}

/** Runs work against the install's database without opening its doors; beside a running server, if need be. */
export async function withHouse<T>(
  config: Config,
  work: (house: House) => Promise<T>,
  options: HouseOptions = {},
): Promise<T> {
  const house = await openHouse(config, pino({ level: 'error' }, pino.destination(2)), options)
  try {
    return await work(house)
  } finally {
    await house.close()
  }
}

/** The value of a flag that must be there. */
export function required({ flags }: Invocation, name: string): string {
  const value = flags[name]
  if (typeof value !== 'string' || value.trim() === '') throw new UsageError(`--${name} is needed.`)
  return value
}

/** Rows as aligned columns. */
export function table(rows: string[][]): string {
  const widths = rows.reduce<number[]>((all, row) => row.map((cell, i) => Math.max(all[i] ?? 0, cell.length)), [])
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
