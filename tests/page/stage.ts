import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { promisify } from 'node:util'
import {
  type Browser,
  type BrowserContextOptions,
  type ConsoleMessage,
  chromium,
  type Page,
  type Route,
} from 'playwright-core'
import { withoutSuggestions } from '../../scripts/chromium.ts'
import { freshDatabase } from '../support/databases.ts'
import { type Answer, httpsClient } from '../support/http.ts'

/**
 * The demo install and a browser, for all tests of the page: one of each, opened by whoever is first. Every person has a
 * profile of the browser to themselves, as on a device of their own.
 */

const root = join(import.meta.dirname, '../..')
const binary = process.env.PARLEY_TEST_CHROMIUM
const flags = ['--disable-warning=ExperimentalWarning']

/** Why tests of the page are skipped, if they are. */
export const skip = binary ? false : 'needs Chromium, which was not found'

export interface Demo {
  pageUrl: string
  appId: string
  /** A call of the app's API, with all rights or as a person. */
  api(method: string, path: string, body?: unknown, onBehalfOf?: string): Promise<Answer>
  stop(): Promise<void>
}

export interface Device {
  page: Page
  /** What the browser complained about: errors, refusals of the content policy, dialogs, addresses of strangers. */
  complaints: string[]
  /** Opens the page anew, at an address of it. */
  goTo(at: string): Promise<void>
  close(): Promise<void>
}

let demo: Promise<Demo> | undefined
let browser: Promise<Browser> | undefined

after(async () => {
  await (await browser)?.close()
  await (await demo)?.stop()
})

export function openDemo(): Promise<Demo> {
  demo ??= startDemo()
  return demo
}

/** A device on which the page shows itself to somebody, or to nobody yet. */
export async function deviceOf(
  uid: string | undefined,
  { at = '', ...options }: BrowserContextOptions & { at?: string } = {},
): Promise<Device> {
  const { pageUrl } = await openDemo()
  browser ??= startBrowser()
  const context = await (await browser).newContext({
    ignoreHTTPSErrors: true,
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    reducedMotion: 'reduce',
    ...options,
  })
  // An empty page keeps nothing, and would complain.
  const remember = `if (location.protocol === 'https:') sessionStorage.setItem('parley.person', ${JSON.stringify(uid)})`
  if (uid !== undefined) await context.addInitScript(remember)
  const page = await context.newPage()
  const complaints = complaintsOf(page, new URL(pageUrl).origin)
  const goTo = async (hash: string) => {
    // Where only what comes after `#` is another, a browser stays where it is.
    await page.goto('about:blank')
    await page.goto(`${pageUrl}/${hash}`)
  }
  await goTo(at)
  return { page, complaints, goTo, close: () => context.close() }
}

function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: binary ?? '',
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
      ...['--disable-background-networking', '--disable-component-update', '--mute-audio'],
      // A microphone that hums, and nobody who has to be asked for it.
      ...['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
      withoutSuggestions,
    ],
  })
}

function complaintsOf(page: Page, origin: string): string[] {
  const complaints: string[] = []
  const said = (message: ConsoleMessage) => {
    // Which resource it was that failed is told beside the words.
    const which = message.text().startsWith('Failed to load') ? ` ${message.location().url}` : ''
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text() + which)
  }
  page.on('console', said)
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const isOwn = request.url().startsWith(`${origin}/`) || /^(blob|data|about):/.test(request.url())
    if (!isOwn) complaints.push(`a request to ${request.url()}`)
  })
  return complaints
}

async function startDemo(): Promise<Demo> {
  await promisify(execFile)(process.execPath, [...flags, join(root, 'scripts/build-page.ts')])
  const database = await freshDatabase('sqlite')
  const main = join(root, 'server/src/main.ts')
  const child = spawn(process.execPath, [...flags, main, 'start', '--demo', '--port', '0', '--json'], {
    env: { PATH: process.env.PATH, ...database.environment, ...generous },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const credentials = JSON.parse(await firstLine(child.stdout.setEncoding('utf8')))
  const client = httpsClient(credentials.port, readFileSync(credentials.caFile, 'utf8'))
  const { hostname } = new URL(credentials.baseUrl)
  return {
    pageUrl: credentials.pageUrl,
    appId: credentials.appId,
    api: (method, path, body, onBehalfOf) =>
      client.send(hostname, `/v3${path}`, {
        method,
        headers: { apikey: credentials.apiKey, ...(onBehalfOf && { onBehalfOf }) },
        ...(body !== undefined && { body }),
      }),
    async stop() {
      client.close()
      child.kill('SIGTERM')
      await exited
      await database.drop()
    },
  }
}

// Many tests write as one person, and faster than people do.
const generous = { PARLEY_LOG_LEVEL: 'error', PARLEY_LIMIT_MESSAGES: '100000', PARLEY_LIMIT_UNREAD: '100000' }

async function firstLine(lines: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const part of lines) {
    text += part
    if (text.includes('\n')) break
  }
  return text.slice(0, text.indexOf('\n'))
}

let developmentScript: Promise<string> | undefined

/** From its next loading on, the page is the one that developers see: of the same sources, with all that React checks. */
export async function runDevelopmentBuild(page: Page): Promise<void> {
  developmentScript ??= buildForDevelopment()
  const body = await developmentScript
  await page.route('**/demo/assets/*.js', (route) => route.fulfill({ contentType: 'text/javascript', body }))
}

async function buildForDevelopment(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-development-'))
  const words = ['build', '--mode', 'development', '--minify', 'false', '--outDir', folder, '--logLevel', 'error']
  const environment = { ...process.env, NODE_ENV: 'development' }
  try {
    await promisify(execFile)(process.execPath, [join(root, 'node_modules/vite/bin/vite.js'), ...words], {
      cwd: join(root, 'demo'),
      env: environment,
    })
    const scripts = readdirSync(join(folder, 'assets')).filter((name) => name.endsWith('.js'))
    assert.equal(scripts.length, 1, 'all of the page is one script')
    const script = readFileSync(join(folder, 'assets', String(scripts[0])), 'utf8')
    assert.match(script, /doubleInvokeEffects/)
    return script
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** An answer that no server gives: whatever shows the conversation in it throws. */
export function breakConversations(route: Route): Promise<void> {
  const lastMessage = { id: '1', sender: 'nora', receiver: 'milo', sentAt: 1, category: 'message', data: null }
  const broken = {
    conversationType: 'user',
    conversationWith: { uid: 'milo', name: 'Milo' },
    updatedAt: 1,
    lastMessage,
  }
  return route.fulfill({ json: { data: [broken], meta: { pagination: { total_pages: 1 } } } })
}
