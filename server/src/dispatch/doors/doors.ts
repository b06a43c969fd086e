import type { Caller } from '../../kit/operation.ts'
import type { Secrets } from '../../kit/ports.ts'
import type { Database } from '../../storage/database.ts'
import type { Directory, KnownApp } from '../directory.ts'
import { type NamedApp, resolveApp } from './app.ts'
import { enterAsClient } from './client.ts'
import { enterAsManagement, type ManagementPair } from './management.ts'
import { enterAsServer } from './server.ts'

/** What someone comes with to an app. What was not sent is absent; a blank auth token was sent all the same. */
export interface Credentials {
  apikey?: string | undefined
  authToken?: string | undefined
}

/** Where credentials, however they came, turn into callers. */
export interface Doors {
  /** The app that is meant. */
  app(named: NamedApp): Promise<KnownApp>
  /** An API key decides when both are sent; without either, it is a server that forgot its key. */
  enter(app: KnownApp, credentials: Credentials): Promise<Caller>
  enterManagement(pair: ManagementPair | undefined): Promise<Caller>
}

export function openDoors(database: Database, directory: Directory, secrets: Secrets): Doors {
  return {
    app: (named) => resolveApp(directory, named),
    enter: (app, { apikey, authToken }) =>
      apikey === undefined && authToken !== undefined
        ? enterAsClient(directory, app, { authToken })
        : enterAsServer(directory, app, { apikey }),
    enterManagement: (pair) => enterAsManagement(database, secrets, pair),
  }
}
