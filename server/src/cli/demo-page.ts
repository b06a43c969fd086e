import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { demoPeople } from '../install/demo-people.ts'
import type { DemoCredentials } from '../install/seed.ts'
import { type ContentPolicy, filesIn, madeFile, type PageFiles, type PageSet } from '../service.ts'

/** The chat page of a demo install: what `demo/` is built to, and what the page must know of the install. */

const builtFolder = join(import.meta.dirname, '../../../demo/dist')
// The build names files in it after their content.
const hashed = 'assets'

interface DemoPage {
  domain: string
  region: string
  /** Known once the demo app is there, which is after the doors have been opened. */
  credentials: Promise<DemoCredentials>
}

export function demoPage({ domain, region, credentials }: DemoPage, folder = builtFolder): PageSet {
  const install = madeFile('.json', async () => [JSON.stringify(installOf(await credentials))])
  return {
    at: '/demo',
    policy: policyFor(`*.api-${region}.${domain}:*`),
    // It hands out a key that makes a token for anybody.
    forOwnOrigin: true,
    isFront: true,
    files: new Map([...pageIn(folder), ['/install.json', install]]),
  }
}

/** What the page needs before anybody is logged in. */
function installOf({ baseUrl, appId, authKey }: DemoCredentials) {
  return { url: new URL(baseUrl).origin, appId, authKey, people: demoPeople }
}

/** The page talks to the API of this install, whichever of its hosts it is opened at, and shows its files. */
function policyFor(apiHost: string): ContentPolicy {
  const own = `'self' https://${apiHost}`
  return {
    'script-src': "'self'",
    // Its components come with style elements that they write themselves.
    'style-src': "'self' 'unsafe-inline'",
    'connect-src': `${own} wss://${apiHost}`,
    'img-src': `${own} blob: data:`,
    'media-src': `${own} blob: data:`,
  }
}

function pageIn(folder: string): PageFiles {
  if (existsSync(join(folder, 'index.html'))) return filesIn(folder, { hashed })
  return new Map([['/', madeFile('.html', () => [notBuilt])]])
}

const notBuilt = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley</title>
<h1>The chat page is not built</h1>
<p>The server runs, and its API answers. To see the page, run <code>npm run build -w demo</code> in the folder of Parley
and start the server again; <code>npm start</code> does both.
`
