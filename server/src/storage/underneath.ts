import type { Connection } from './connection.ts'

/** Where the `db` of an app keeps the connection that it stands on. No area imports this; a test reads the import lines. */
export const underneath = Symbol('connection')

/** The connection under the `db` of an app, which knows nothing of apps: whoever uses it sees to that. */
export function connectionUnder(db: { readonly [underneath]: Connection }): Connection {
  return db[underneath]
}
