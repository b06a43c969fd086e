import type { Directory, KnownApp } from '../directory.ts'
import { invalidAppId, noAppId } from '../errors.ts'

// What cannot be one is refused before it takes room in a cache or time of the database.
const appIdForm = /^[a-z0-9]{1,32}$/

/** What is said about the app that is meant. */
export interface NamedApp {
  appId: string | undefined
  region: string | undefined
}

/** The app that is meant: the one that is named, else the install has only one. */
export async function resolveApp(directory: Directory, { appId, region }: NamedApp): Promise<KnownApp> {
  const app = appId === undefined ? await directory.onlyApp() : await knownApp(directory, appId)
  if (!app) throw appId === undefined ? noAppId() : invalidAppId()
  if (region !== undefined && region !== app.region) throw invalidAppId()
  return app
}

async function knownApp(directory: Directory, id: string): Promise<KnownApp | undefined> {
  return appIdForm.test(id) ? directory.app(id) : undefined
}
