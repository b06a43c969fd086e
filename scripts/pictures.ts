import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContextOptions, chromium, type Page, type WebSocketRoute } from 'playwright-core'
import { chromiumBinary } from './chromium.ts'

/** Takes the pictures of the chat page in `docs/pictures`, from a demo install of its own. */

const root = join(import.meta.dirname, '..')
const pictures = join(root, 'docs/pictures')
const flags = ['--disable-warning=ExperimentalWarning']
const desktop = { width: 1280, height: 800 }
const phone = { width: 390, height: 780 }

interface Picture {
  at: string
  as?: string
  options?: BrowserContextOptions
  /** What is done before the page is opened. */
  prepare?(page: Page): Promise<unknown>
  /** What is done before it is taken. */
  act?(page: Page): Promise<unknown>
}

const messages = (page: Page) => page.getByRole('article').last().waitFor()
const connections: WebSocketRoute[] = []
let isAway = false
const onPhone = { viewport: phone, deviceScaleFactor: 2 }

const list: Record<string, Picture> = {
  'desktop-light': { at: '#/group/all-hands/members', act: messages },
  'desktop-dark': { at: '#/group/all-hands/members', act: messages, options: { colorScheme: 'dark' } },
  'phone-list': { at: '', options: onPhone, act: (page) => page.getByRole('link').first().waitFor() },
  'phone-chat': { at: '#/user/priya', options: onPhone, act: messages },
  arabic: { at: '#/user/omar', as: 'luis', act: messages },
  thread: {
    at: '#/group/design-team',
    async act(page) {
      await page.getByRole('button', { name: /repl/ }).first().click()
      await page.getByRole('complementary').getByRole('article').last().waitFor()
    },
  },
  upload: {
    at: '#/user/jonas',
    async act(page) {
      await messages(page)
      const file = { name: 'oak-samples.pdf', mimeType: 'application/pdf', buffer: Buffer.alloc(48_000) }
      await page.locator('input[type=file]').first().setInputFiles(file)
      await page.getByText('oak-samples.pdf').waitFor()
    },
  },
  'failed-send': {
    at: '#/user/jonas',
    async act(page) {
      await messages(page)
      await page.route('**/v3/messages', (route) => route.fulfill({ status: 403, json: { error: { code: 'ERR_NO' } } }))
      await write(page, 'Are the legs glued yet?')
      await page
        .getByText(/again|failed/i)
        .first()
        .waitFor()
    },
  },
  offline: {
    at: '#/user/priya',
    prepare: (page) =>
      page.routeWebSocket(/realtime/, (connection) => {
        if (isAway) return void connection.close()
        connections.push(connection)
        connection.connectToServer()
      }),
    async act(page) {
      await messages(page)
      isAway = true
      for (const connection of connections) await connection.close()
      await page.context().setOffline(true)
      await write(page, 'I will be on the train for an hour.')
      await page
        .getByText(/There is no connection|Connecting/)
        .first()
        .waitFor()
    },
  },
  'unread-divider': { at: '#/group/design-team', as: 'milo', act: messages },
  empty: { at: '#/user/mei', as: 'nora', act: (page) => page.getByRole('textbox', { name: 'Message' }).waitFor() },
  search: {
    at: '#/group/all-hands/search',
    async act(page) {
      await page.getByRole('searchbox', { name: 'Search messages' }).fill('chair')
      await page.getByRole('list', { name: 'Found messages' }).waitFor()
    },
  },
  members: { at: '#/group/design-team/members', as: 'milo', act: (page) => page.getByText(/are online/).waitFor() },
}

async function write(page: Page, text: string): Promise<void> {
  const box = page.getByRole('textbox', { name: 'Message' })
  await box.fill(text)
  await box.press('Enter')
}

execFileSync(process.execPath, [...flags, join(root, 'scripts/build-page.ts')], { stdio: 'inherit' })
const data = mkdtempSync(join(tmpdir(), 'parley-pictures-'))
const server = spawn(
  process.execPath,
  [...flags, join(root, 'server/src/main.ts'), 'start', '--demo', '--port', '0', '--json'],
  {
    env: { PATH: process.env.PATH, PARLEY_DATA: data, PARLEY_LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
const [printed] = await once(server.stdout.setEncoding('utf8'), 'data')
const { pageUrl } = JSON.parse(printed)
const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update']
const browser = await chromium.launch({ executablePath: chromiumBinary() ?? '', args })
mkdirSync(pictures, { recursive: true })
const chosen = process.argv.slice(2)

for (const [name, { at, as = 'nora', options = {}, prepare, act }] of Object.entries(list)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  const context = await browser.newContext({
    ...{ ignoreHTTPSErrors: true, viewport: desktop, locale: 'en-GB', reducedMotion: 'reduce' },
    ...options,
  })
  await context.addInitScript(`sessionStorage.setItem('parley.person', ${JSON.stringify(as)})`)
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  try {
    await prepare?.(page)
    await page.goto(`${pageUrl}/${at}`)
    await act?.(page)
    await page.screenshot({ path: join(pictures, `${name}.png`) })
    console.log(name)
  } catch (error) {
    process.exitCode = 1
    console.error(`${name}: ${(error as Error).message}`)
  }
  await context.close()
}

await browser.close()
server.kill('SIGTERM')
await once(server, 'exit')
rmSync(data, { recursive: true })
