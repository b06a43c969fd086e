import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Page,
  request,
  type WebSocketRoute,
} from 'playwright-core'
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
  act?(page: Page, stage: Stage): Promise<unknown>
}

const messages = (page: Page) => page.getByRole('article').last().waitFor()
const connections: WebSocketRoute[] = []
let isAway = false
const onPhone = { viewport: phone, deviceScaleFactor: 2 }

const list: Record<string, Picture> = {
  'desktop-light': { at: '#/group/design-team', act: somebodyWriting },
  'desktop-dark': { at: '#/group/design-team', act: somebodyWriting, options: { colorScheme: 'dark' } },
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
      const network = await page.context().newCDPSession(page)
      const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 800_000 }
      await network.send('Network.emulateNetworkConditions', slow)
      const file = { name: 'oak-samples.pdf', mimeType: 'application/pdf', buffer: Buffer.alloc(4_800_000) }
      await page.locator('input[type=file]').first().setInputFiles(file)
      await page.getByText(/^[3-9]\d % of/).waitFor()
    },
  },
  'failed-send': {
    at: '#/user/jonas',
    async act(page) {
      await messages(page)
      const error = { code: 'ERR_NOT_NOW', message: 'Jonas takes no messages before nine.' }
      await page.route('**/v3/messages', (route) => route.fulfill({ status: 403, json: { error } }))
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

/** What is said before the first picture, and who likes it how. */
const talk: {
  from: string
  to: { user: string } | { group: string }
  text: string
  liked?: Record<string, string[]>
}[] = [
  {
    ...{ from: 'amara', to: { group: 'design-team' }, text: 'The hinge closes without a sound now!' },
    liked: { '🎉': ['milo', 'kenji', 'nora'], '👏': ['kenji'] },
  },
  { from: 'kenji', to: { group: 'design-team' }, text: '素晴らしい！ Ash or oak for the slats?' },
  {
    ...{ from: 'nora', to: { group: 'design-team' }, text: 'Ash. It is lighter, and Wanjiru has enough of it.' },
    liked: { '👍': ['kenji', 'amara'] },
  },
  { from: 'milo', to: { group: 'design-team' }, text: 'Then I order the brass screws today.' },
  { from: 'amara', to: { group: 'design-team' }, text: '<@uid:nora>, can you come and sit on it at four?' },
  { from: 'priya', to: { user: 'nora' }, text: 'They send their love back.' },
  { from: 'priya', to: { user: 'nora' }, text: 'Shall I book the train to the fair?' },
]

async function letPeopleTalk({ port, appId, apiKey }: Demo): Promise<void> {
  // Programs do not know the names under localhost, as browsers do.
  const baseURL = `https://127.0.0.1:${port}`
  const api = await request.newContext({
    baseURL,
    ignoreHTTPSErrors: true,
    extraHTTPHeaders: { appid: appId, apikey: apiKey },
  })
  const post = async (path: string, onBehalfOf: string, data: object) => {
    const answer = await api.post(`/v3/messages${path}`, { headers: { onBehalfOf }, data })
    if (!answer.ok()) throw new Error(`${path}: ${await answer.text()}`)
    return (await answer.json()).data
  }
  for (const { from, to, text, liked = {} } of talk) {
    const [receiverType, receiver] = 'user' in to ? ['user', to.user] : ['group', to.group]
    const { id } = await post('', from, { receiver, receiverType, type: 'text', data: { text } })
    for (const [reaction, people] of Object.entries(liked)) {
      for (const uid of people) await post(`/${id}/reactions/${encodeURIComponent(reaction)}`, uid, {})
    }
  }
  await api.dispose()
}

async function somebodyWriting(page: Page, { pageOf, pageUrl }: Stage): Promise<void> {
  await messages(page)
  const other = await pageOf('kenji')
  await other.goto(`${pageUrl}/#/group/design-team`)
  await other.getByRole('textbox', { name: 'Message' }).pressSequentially('I bring')
  await page.getByText(/is writing/).waitFor()
}

async function write(page: Page, text: string): Promise<void> {
  const box = page.getByRole('textbox', { name: 'Message' })
  await box.fill(text)
  await box.press('Enter')
}

interface Demo {
  pageUrl: string
  port: number
  appId: string
  apiKey: string
}

interface Stage extends Demo {
  /** A page of somebody, on a device of their own. */
  pageOf(uid: string, options?: BrowserContextOptions): Promise<Page>
}

/** A demo install while something is done with it; whatever comes of that, nothing is left of it. */
async function withDemo(run: (demo: Demo) => Promise<void>): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'parley-pictures-'))
  const words = ['start', '--demo', '--port', '0', '--json']
  const server = spawn(process.execPath, [...flags, join(root, 'server/src/main.ts'), ...words], {
    env: { PATH: process.env.PATH, PARLEY_DATA: data, PARLEY_LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(server, 'exit')
  try {
    const [printed] = await once(server.stdout.setEncoding('utf8'), 'data')
    await run(JSON.parse(printed))
  } finally {
    server.kill('SIGTERM')
    await exited
    rmSync(data, { recursive: true })
  }
}

async function withBrowser(run: (browser: Browser) => Promise<void>): Promise<void> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update']
  const browser = await chromium.launch({ executablePath: chromiumBinary() ?? '', args })
  try {
    await run(browser)
  } finally {
    await browser.close()
  }
}

function stageIn(browser: Browser, demo: Demo): Stage {
  return {
    ...demo,
    async pageOf(uid, options = {}) {
      const context = await browser.newContext({
        ...{ ignoreHTTPSErrors: true, viewport: desktop, locale: 'en-GB', reducedMotion: 'reduce' },
        ...options,
      })
      await context.addInitScript(`sessionStorage.setItem('parley.person', ${JSON.stringify(uid)})`)
      const page = await context.newPage()
      page.setDefaultTimeout(10_000)
      return page
    },
  }
}

async function take(name: string, { at, as = 'nora', options, prepare, act }: Picture, stage: Stage): Promise<void> {
  const page = await stage.pageOf(as, options)
  await prepare?.(page)
  await page.goto(`${stage.pageUrl}/${at}`)
  await act?.(page, stage)
  await page
    .getByRole('status', { name: /^Loading/ })
    .first()
    .waitFor({ state: 'detached' })
  await page.screenshot({ path: join(pictures, `${name}.png`) })
  console.log(name)
}

const chosen = process.argv.slice(2)
execFileSync(process.execPath, [...flags, join(root, 'scripts/build-page.ts')], { stdio: 'inherit' })
mkdirSync(pictures, { recursive: true })
await withDemo(async (demo) => {
  await letPeopleTalk(demo)
  await withBrowser(async (browser) => {
    const stage = stageIn(browser, demo)
    for (const [name, picture] of Object.entries(list)) {
      if (chosen.length > 0 && !chosen.includes(name)) continue
      await take(name, picture, stage).catch((error: Error) => {
        process.exitCode = 1
        console.error(`${name}: ${error.message}`)
      })
      for (const context of browser.contexts()) await context.close()
    }
  })
})
