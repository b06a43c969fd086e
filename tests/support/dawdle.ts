import type { Connection } from '../../server/src/storage/connection.ts'

/** Makes a transaction longer by some statements, so that others can overtake it. */
export async function dawdle({ run }: Pick<Connection, 'run'>, statements: number): Promise<void> {
  for (let n = 0; n < statements; n += 1) await run('SELECT 1', [])
}
