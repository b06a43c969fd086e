import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import { chromiumBinary, withoutSuggestions } from '../../scripts/chromium.ts'
import { figureOf, type Group, judged } from '../harness.ts'
import { type Install, installWithReader, requestTo, send } from '../install.ts'
import { longGroup, reader } from '../load-reader.ts'
import { type Running, startParley } from '../processes.ts'

/** The chat page as somebody has it who has very much to read. */

const root = join(import.meta.dirname, '../..')
const messages = 10_000
// About a screen from one frame to the next: faster than any finger.
const stepPixels = 700

export const page: Group = {
  name: 'page',
  about:
    'The chat page in Chromium: first rows of 2,000 conversations, opening 10,000 messages, scrolling through them',
  async run({ plan, started }) {
    const install = await installWithReader(messages, plan.folder)
    execFileSync(process.execPath, [join(root, 'scripts/build-page.ts')], { stdio: 'inherit' })
    const server = await started(startParley({ data: install.data, words: ['--demo'] }))
    await readAll(server, install)
    const browser = await startBrowser()
    try {
      const first: number[] = []
      const opened: number[] = []
      for (let round = 0; round < plan.rounds; round += 1) {
        const { shown, page } = await openPage(browser, urlOf(server, install))
        first.push(shown)
        opened.push(await openGroup(page))
        await page.context().close()
      }
      const { page } = await openPage(browser, urlOf(server, install))
      await openGroup(page)
      const { frames, heap } = await readBackwards(page, plan.profileFolder)
      return [
        plainly('first rows of 2,000 conversations', figureOf(first, 'ms'), 1_000),
        plainly('opening a conversation of 10,000 messages', figureOf(opened, 'ms'), 300),
        plainly('the longest frame while scrolling through it', figureOf([Math.max(...frames)], 'ms'), 50),
        plainly('frames above 50 ms, of a thousand', figureOf([perMille(frames)], ''), 0),
        plainly('heap after all was read', figureOf([heap], 'MB'), 80),
      ]
    } finally {
      await browser.close()
    }
  },
}

const plainly = (job: string, parley: ReturnType<typeof figureOf>, atMost: number) =>
  judged({ group: 'page', job, parley, reached: parley.median, goal: { atMost } })

const perMille = (frames: number[]) => (frames.filter((ms) => ms > 50).length / frames.length) * 1_000

function startBrowser(): Promise<Browser> {
  const executablePath = chromiumBinary()
  if (executablePath === undefined) throw new Error('The page is measured in Chromium, which was not found.')
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', withoutSuggestions]
  return chromium.launch({ executablePath, args })
}

function urlOf({ ports }: Running, { host }: Install): string {
  return `https://${host.replace('.call-', '.api-')}:${ports.secure}/demo/`
}

/** So that the group opens where most groups do: at its end. */
async function readAll(server: Running, install: Install): Promise<void> {
  const path = `/v3/groups/${longGroup}/conversation/read`
  const reading = requestTo(install, path, { method: 'POST', body: {}, headers: { onbehalfof: reader } })
  const { status, text } = await send(server, reading)
  if (status !== 200) throw new Error(`Reading was refused: ${text}`)
}

/** A page that shows its list, and how long that took from its first byte on. */
async function openPage(browser: Browser, url: string): Promise<{ page: Page; shown: number }> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } })
  await context.addInitScript(`sessionStorage.setItem('parley.person', '${reader}')`)
  const page = await context.newPage()
  await page.goto(url)
  const shown = await page.evaluate<number>(untilPainted('nav li a'))
  await page.waitForLoadState('networkidle')
  return { page, shown }
}

async function openGroup(page: Page): Promise<number> {
  const before = await page.evaluate<number>(`location.hash = '#/group/${longGroup}'; performance.now()`)
  const opened = await page.evaluate<number>(untilPainted('main article'))
  await page.waitForLoadState('networkidle')
  return opened - before
}

/** In the page: the moment when something has been painted. */
const untilPainted = (selector: string) => `(async () => {
  const frame = () => new Promise(requestAnimationFrame)
  while (!document.querySelector('${selector}')) await frame()
  await frame()
  await new Promise((resolve) => setTimeout(resolve))
  return performance.now()
})()`

/** How long frames took on the way to the first message, and what the page holds there. */
async function readBackwards(page: Page, profileFolder: string | undefined) {
  const devtools = await page.context().newCDPSession(page)
  const frames = await profiled(devtools, profileFolder, () => page.evaluate<number[]>(scrolledUp))
  const top = await page.getByRole('article').first().textContent()
  if (!top?.includes('1. ')) throw new Error(`Reading ended at: ${top}`)
  await devtools.send('HeapProfiler.collectGarbage')
  const { usedSize } = await devtools.send('Runtime.getHeapUsage')
  return { frames, heap: usedSize / 1e6 }
}

async function profiled<T>(devtools: CDPSession, folder: string | undefined, run: () => Promise<T>): Promise<T> {
  if (folder === undefined) return run()
  await devtools.send('Profiler.enable')
  await devtools.send('Profiler.start')
  const result = await run()
  const { profile } = await devtools.send('Profiler.stop')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'page.cpuprofile'), JSON.stringify(profile))
  return result
}

/** In the page: how long each frame took, up to where the conversation began. */
const scrolledUp = `(async () => {
  const scroller = document.querySelector('main section ol').parentElement
  const edge = () => scroller.firstElementChild.textContent
  const frames = []
  for (let before = performance.now(); scroller.scrollTop > 0 || !edge().includes('began'); ) {
    if (edge().includes('could not')) throw new Error(edge())
    const now = await new Promise(requestAnimationFrame)
    frames.push(now - before)
    before = now
    scroller.scrollTop -= ${stepPixels}
  }
  return frames
})()`
