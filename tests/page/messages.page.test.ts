import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { type Device, deviceOf, openDemo, runDevelopmentBuild, skip } from './stage.ts'

/** What a picture is at the least: one dot. */
const dot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const boxOf = (page: Page, name = 'Message') => page.getByRole('textbox', { name, exact: true })
const panelOf = (page: Page) => page.getByRole('complementary', { name: 'Beside the conversation' })
const said = (page: Page, text: string | RegExp) => page.getByRole('main').getByRole('article', { name: text })

async function say(page: Page, text: string, box = 'Message'): Promise<void> {
  await boxOf(page, box).fill(text)
  await boxOf(page, box).press('Enter')
}

/** By keys alone: the message has the focus, Enter opens its menu. */
async function choose(page: Page, article: Locator, label: string): Promise<void> {
  await article.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menu').getByRole('menuitem', { name: label, exact: true }).press('Enter')
}

async function isFocused(article: Locator): Promise<void> {
  const handle = await article.elementHandle()
  await article.page().waitForFunction((element) => document.activeElement === element, handle)
}

const sendTo = (receiver: string, receiverType: 'user' | 'group', text: string) => ({
  ...{ receiver, receiverType, category: 'message', type: 'text', data: { text } },
})

describe('what is said on the chat page', { skip }, () => {
  let jonas: Page
  let wanjiru: Page
  const devices: Device[] = []

  const open = async (...words: Parameters<typeof deviceOf>) => {
    const device = await deviceOf(...words)
    devices.push(device)
    return device.page
  }

  before(async () => {
    const { api } = await openDemo()
    const members = { participants: ['wanjiru', 'kenji'] }
    await api('POST', '/groups', { guid: 'joinery', name: 'Joinery', type: 'public', members }, 'jonas')
    jonas = await open('jonas', { at: '#/group/joinery' })
    wanjiru = await open('wanjiru', { at: '#/group/joinery' })
    await say(jonas, 'The oak is dry')
    await said(wanjiru, /^Jonas Weber.*The oak is dry/).waitFor()
  })
  after(async () => {
    const complaints = devices.flatMap((device) => device.complaints)
    for (const { close } of devices) await close()
    assert.deepEqual(complaints, [])
  })

  it('has a menu, by key and by pointer, that gives the focus back', async () => {
    const article = said(wanjiru, /The oak is dry/)
    await article.focus()
    await wanjiru.keyboard.press('Enter')
    await wanjiru.getByRole('menuitem', { name: 'Quote' }).waitFor()
    await wanjiru.keyboard.press('Escape')
    await wanjiru.getByRole('menu').waitFor({ state: 'detached' })
    await isFocused(article)
    await article.hover()
    const more = article.getByRole('button', { name: 'More' })
    const [text, tool] = [await article.getByText('The oak is dry').boundingBox(), await more.boundingBox()]
    assert.ok(text && tool && tool.x > text.x + text.width, 'nothing said is covered')
    await more.click()
    await wanjiru.getByRole('menuitem', { name: 'Quote' }).waitFor()
    await more.click()
    await wanjiru.getByRole('menu').waitFor({ state: 'detached' })
  })

  it('is quoted, and the quote leads to it', async () => {
    await choose(wanjiru, said(wanjiru, /The oak is dry/), 'Quote')
    await isFocused(boxOf(wanjiru))
    await wanjiru.getByRole('button', { name: 'Do not quote it' }).waitFor()
    await say(wanjiru, 'Then I begin')
    const quote = said(jonas, /Then I begin/).getByRole('button', { name: /Jonas Weber.*The oak is dry/ })
    await quote.click()
    await isFocused(said(jonas, /: The oak is dry$/))
  })

  it('gets reactions, which others join and everybody takes back', async () => {
    const article = said(wanjiru, /: The oak is dry$/)
    await choose(wanjiru, article, 'React')
    await wanjiru.getByRole('textbox', { name: 'Find an emoji' }).fill('rocket')
    await wanjiru.getByRole('button', { name: /rocket/ }).click()
    await isFocused(article)
    await said(jonas, /: The oak is dry$/)
      .getByRole('button', { name: '🚀, 1' })
      .click()
    await article.getByRole('button', { name: '🚀, 2', pressed: true }).click()
    await article.getByRole('button', { name: '🚀, 1', pressed: false }).waitFor()
    await said(jonas, /: The oak is dry$/)
      .getByRole('button', { name: '🚀, 1', pressed: true })
      .click()
    await article.getByRole('list', { name: 'Reactions' }).waitFor({ state: 'detached' })
  })

  it('tells in a group who has read it', async () => {
    await said(jonas, /: The oak is dry$/)
      .getByRole('button', { name: /Who has read it/ })
      .click()
    const readers = jonas.getByRole('list', { name: 'Who has received and read it' })
    await readers.getByText('Wanjiru Kamau').waitFor()
    await readers.getByText(/^Read /).waitFor()
    await jonas.keyboard.press('Escape')
    await readers.waitFor({ state: 'detached' })
  })

  it('is edited, and says so', async () => {
    await say(jonas, 'Lunch at noon')
    await said(wanjiru, /Lunch at noon/).waitFor()
    await choose(jonas, said(jonas, /\d: Lunch at noon/), 'Edit')
    await isFocused(boxOf(jonas))
    await say(jonas, 'Lunch at one')
    await said(wanjiru, /Lunch at one/)
      .getByText('edited')
      .waitFor()
  })

  it('is copied', async () => {
    await jonas.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await choose(jonas, said(jonas, /Lunch at one/), 'Copy text')
    await jonas.waitForFunction(async () => (await navigator.clipboard.readText()) === 'Lunch at one')
    await isFocused(said(jonas, /Lunch at one/))
  })

  it('is deleted for everybody, once that was confirmed', async () => {
    const article = said(jonas, /Lunch at one/)
    await choose(jonas, article, 'Delete')
    await jonas.getByRole('dialog').getByRole('button', { name: 'Keep' }).click()
    await isFocused(article)
    await choose(jonas, article, 'Delete')
    await jonas.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    for (const page of [jonas, wanjiru]) await said(page, /Jonas Weber.*: Message deleted/).waitFor()
  })

  it('is pinned for everybody, and the bar leads to it', async () => {
    const bar = wanjiru.getByRole('main').getByRole('button', { name: /^Pinned Jonas Weber.*The oak is dry/ })
    await choose(jonas, said(jonas, /: The oak is dry$/), 'Pin')
    await bar.click()
    await isFocused(said(wanjiru, /: The oak is dry$/))
    await choose(jonas, said(jonas, /: The oak is dry$/), 'Unpin')
    await bar.waitFor({ state: 'detached' })
  })

  it('has replies in a thread, which are new until they are read', async () => {
    await choose(wanjiru, said(wanjiru, /: The oak is dry$/), 'Reply in a thread')
    await panelOf(wanjiru).getByText('Nobody has replied yet.').waitFor()
    await say(wanjiru, 'How dry?', 'Reply')
    const summary = said(jonas, /: The oak is dry$/).getByRole('button', { name: /^1 reply/ })
    await summary.getByText('1 new').waitFor()
    await jonas.getByRole('link', { name: /Joinery.*In a thread:.*How dry\?/ }).waitFor()
    await summary.click()
    await panelOf(jonas)
      .getByRole('article', { name: /^Wanjiru Kamau.*How dry\?/ })
      .waitFor()
    await summary.getByText('1 new').waitFor({ state: 'detached' })
    await panelOf(jonas).getByRole('button', { name: 'Close the thread' }).click()
    await panelOf(jonas).waitFor({ state: 'detached' })
  })

  it('shows pictures and files, here and there', async () => {
    await jonas
      .locator('input[type=file]')
      .first()
      .setInputFiles([
        { name: 'dot.png', mimeType: 'image/png', buffer: dot },
        { name: 'plan.pdf', mimeType: 'application/pdf', buffer: Buffer.alloc(48_000) },
      ])
    await jonas.getByRole('list', { name: 'Files' }).getByText('plan.pdf').waitFor()
    await say(jonas, 'Both of them')
    const article = said(wanjiru, /Both of them/)
    const picture = article.getByRole('img', { name: 'dot.png' })
    await picture.waitFor()
    await wanjiru.waitForFunction(
      (image) => (image as HTMLImageElement).naturalWidth > 0,
      await picture.elementHandle(),
    )
    const card = article.getByRole('link', { name: /^Download plan\.pdf/ })
    await card.getByText('PDF · 48 KB').waitFor()
    assert.match((await card.getAttribute('href')) ?? '', /^https:/)
  })

  it('shows what was refused, why, and what to do about it', async () => {
    const answer = { error: { code: 'ERR_NOT_TODAY', message: 'Not today.' } }
    const page = await open('milo', { at: '#/user/mei' })
    await boxOf(page).waitFor()
    await page.route('**/v3/messages', (route) => route.fulfill({ status: 403, json: answer }))
    await say(page, 'First')
    await said(page, /not sent: First/)
      .getByText('Not sent. Not today.')
      .waitFor()
    await said(page, /not sent: First/)
      .getByRole('button', { name: 'Discard' })
      .click()
    await said(page, /First/).waitFor({ state: 'detached' })
    await say(page, 'Second')
    await said(page, /not sent: Second/).waitFor()
    await page.unroute('**/v3/messages')
    await said(page, /not sent: Second/)
      .getByRole('button', { name: 'Try again' })
      .click()
    await said(page, /\d: Second/).waitFor()
    // The browser notes each refusal.
    const complaints = devices[devices.length - 1]?.complaints ?? []
    const noted = complaints.splice(0)
    assert.ok(noted.length > 0)
    for (const complaint of noted) assert.match(complaint, /status of 403 .*\/v3\/messages$/)
  })
})

describe('how far something said has come', { skip }, () => {
  it('is told to who said it: sent, delivered, read', async () => {
    const milo = await deviceOf('milo', { at: '#/user/elif' })
    await say(milo.page, 'Are you well?')
    const article = said(milo.page, /Are you well\?/)
    await article.getByLabel('Sent', { exact: true }).waitFor()
    const elif = await deviceOf('elif')
    const row = elif.page.getByRole('link', { name: /Milo Brandt/ })
    await row.waitFor()
    await milo.page.getByRole('main').getByText('Online', { exact: true }).waitFor()
    await say(milo.page, 'And back soon?')
    await article.getByLabel('Delivered', { exact: true }).waitFor()
    await row.click()
    await article.getByLabel('Read', { exact: true }).waitFor()
    assert.deepEqual([...milo.complaints, ...elif.complaints], [])
    for (const { close } of [milo, elif]) await close()
  })
})

describe('a long conversation on the chat page', { skip }, () => {
  const ids: string[] = []
  const count = 260

  before(async () => {
    const { api } = await openDemo()
    const members = { participants: ['luis'] }
    await api('POST', '/groups', { guid: 'logbook', name: 'Logbook', type: 'public', members }, 'priya')
    for (let n = 1; n <= count; n += 1) {
      const { body } = await api('POST', '/messages', sendTo('logbook', 'group', `Entry ${n} of the log`), 'priya')
      ids.push(body.data.id)
    }
  })

  it('opens where reading begins, and counts what comes below', async () => {
    const { api } = await openDemo()
    await api('POST', '/groups/logbook/conversation/read', { messageId: ids[count - 41] }, 'luis')
    const { page, complaints, close } = await deviceOf('luis', { at: '#/group/logbook' })
    await page.getByText('New messages', { exact: true }).waitFor()
    assert.ok(await isInSight(said(page, `Entry ${count - 39} of the log`)))
    assert.ok(!(await isInSight(said(page, `Entry ${count} of the log`))))
    await api('POST', '/messages', sendTo('logbook', 'group', 'One more'), 'priya')
    const pill = page.getByRole('button', { name: /new messages$/ })
    await pill.click()
    await pill.waitFor({ state: 'detached' })
    assert.ok(await isInSight(said(page, /One more/)))
    const row = page.getByRole('link', { name: /Logbook/ })
    await row.getByLabel(/unread$/).waitFor({ state: 'detached' })
    // Marked unread, it is left, and has a count again.
    await choose(page, said(page, `Entry ${count} of the log`), 'Mark as unread')
    await page.getByRole('heading', { name: 'Logbook', level: 1 }).waitFor({ state: 'detached' })
    await row.getByLabel('2 unread').waitFor()
    assert.deepEqual(complaints, [])
    await close()
  })

  it('fetches what is older at the edge, and nothing moves', async () => {
    const { page, complaints, close } = await deviceOf('priya', { at: '#/group/logbook' })
    await said(page, /One more/).waitFor()
    const moved = await page.evaluate(async () => {
      const list = document.querySelector('main section ol')
      const scroller = list?.parentElement
      const first = list?.querySelector('article')
      if (!list || !scroller || !first) throw new Error('There is no list.')
      const before = list.querySelectorAll('article').length
      scroller.scrollTop = 0
      const place = first.getBoundingClientRect().top
      await new Promise<void>((resolve) => {
        const look = () => (list.querySelectorAll('article').length > before ? resolve() : requestAnimationFrame(look))
        look()
      })
      return first.getBoundingClientRect().top - place
    })
    assert.ok(Math.abs(moved) <= 2, `moved by ${moved} pixels`)
    assert.deepEqual(complaints, [])
    await close()
  })

  it('shows the message that the address names', async () => {
    const { page, complaints, close } = await deviceOf('priya', { at: `#/group/logbook?message=${ids[49]}` })
    await isFocused(said(page, 'Entry 50 of the log'))
    assert.ok(await isInSight(said(page, 'Entry 50 of the log')))
    await page.getByRole('button', { name: 'To the latest message' }).click()
    await said(page, /One more/).waitFor()
    assert.ok(await isInSight(said(page, /One more/)))
    assert.deepEqual(complaints, [])
    await close()
  })

  it('says so when the message that the address names is not there', async () => {
    const { page, close } = await deviceOf('priya', { at: '#/group/logbook?message=1' })
    await page.getByText('That did not work. The message is not there any more.').waitFor()
    await close()
  })

  it('shows all but the message that it cannot show', async () => {
    const { page, goTo, close } = await deviceOf('priya')
    const said = { sender: 'luis', receiver: 'logbook', receiverType: 'group', sentAt: 1, category: 'message' }
    const answers = [
      [
        { ...said, id: '1', data: null },
        { ...said, id: '2', data: { text: 'As ever' } },
      ],
    ]
    await page.route(/groups\/logbook\/messages\?.*affix=/, (route) =>
      route.fulfill({ json: { data: answers.shift() ?? [], meta: {} } }),
    )
    await goTo('#/group/logbook')
    await page.getByRole('article', { name: /As ever/ }).waitFor()
    await page.getByText('A message that this page cannot show').waitFor()
    await close()
  })

  for (const build of ['production', 'development'] as const) {
    it(`is fetched once, over one connection, by the build for ${build}`, async () => {
      const { page, goTo, complaints, close } = await deviceOf('priya')
      await page.getByRole('navigation').getByRole('link').first().waitFor()
      // There React mounts everything twice, to find what does not survive it.
      if (build === 'development') await runDevelopmentBuild(page)
      const fetched: string[] = []
      let sockets = 0
      page.on('websocket', () => {
        sockets += 1
      })
      // Who is there is asked once more where the first answer is older than the connection: nobody tells what was between.
      const isPresence = (url: string) => url.includes('/users?uids')
      page.on('request', (request) => {
        const url = request.url()
        if (url.includes('/v3') && request.method() === 'GET' && !isPresence(url)) fetched.push(url)
      })
      await goTo('#/group/logbook')
      await said(page, /One more/).waitFor()
      await page.waitForLoadState('networkidle')
      assert.equal(sockets, 1)
      assert.deepEqual(fetched, [...new Set(fetched)])
      assert.deepEqual(complaints, [])
      await close()
    })
  }
})

const isInSight = (locator: Locator) =>
  locator.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect()
    const frame = element.closest('section')?.getBoundingClientRect()
    return frame !== undefined && top < frame.bottom && bottom > frame.top
  })
