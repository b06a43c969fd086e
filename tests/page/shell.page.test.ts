import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page, WebSocketRoute } from 'playwright-core'
import { breakConversations, deviceOf, openDemo, skip } from './stage.ts'

const boxOf = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true })

const text = (receiver: string, words: string) => ({
  ...{ receiver, receiverType: 'user', category: 'message', type: 'text' },
  data: { text: words },
})

describe('the chat page around its conversations', { skip }, () => {
  it('says that there is no connection, and sends once what was written meanwhile', async () => {
    const { api } = await openDemo()
    const { page, goTo, close } = await deviceOf('kenji')
    const sockets: WebSocketRoute[] = []
    await page.routeWebSocket(/\/realtime/, (socket) => {
      socket.connectToServer()
      sockets.push(socket)
    })
    await goTo('#/user/mei')
    await boxOf(page).waitFor()
    await page.context().setOffline(true)
    // What is open already stays so in such a browser.
    for (const socket of sockets) await socket.close()
    const banner = page.getByText('There is no connection.')
    await banner.waitFor()
    await boxOf(page).fill('Written on the train')
    await boxOf(page).press('Enter')
    await page.getByRole('img', { name: 'On its way' }).waitFor()
    await page.context().setOffline(false)
    await banner.waitFor({ state: 'detached' })
    await page.getByRole('img', { name: 'On its way' }).waitFor({ state: 'detached' })
    const { body } = await api('GET', '/users/mei/messages?limit=100&category=message', undefined, 'kenji')
    const arrived = body.data.filter((message: { data: { text?: string } }) =>
      message.data.text?.startsWith('Written on the train'),
    )
    assert.equal(arrived.length, 1)
    await close()
  })

  it('sends once, when it is opened again, what had not left before it was closed', async () => {
    const { api, pageUrl } = await openDemo()
    const { page, close } = await deviceOf('wanjiru', { at: '#/user/mei' })
    const arrived = async () => {
      const { body } = await api('GET', '/users/mei/messages?limit=100&category=message', undefined, 'wanjiru')
      return body.data.filter((message: { data: { text?: string } }) => message.data.text === 'Before the tunnel')
        .length
    }
    const context = page.context()
    await boxOf(page).waitFor()
    // Not a route that aborts: a browser lets go of what a route holds when its page is closed.
    await context.setOffline(true)
    await boxOf(page).fill('Before the tunnel')
    await boxOf(page).press('Enter')
    await page.getByRole('img', { name: 'On its way' }).waitFor()
    const next = await context.newPage()
    await page.close()
    assert.equal(await arrived(), 0)
    await context.setOffline(false)
    await next.goto(`${pageUrl}/#/user/mei`)
    const article = next.getByRole('article', { name: /\d: Before the tunnel/ })
    await article.waitFor()
    await next.reload()
    await article.waitFor()
    assert.equal(await arrived(), 1)
    await close()
  })

  it('says so when something in it is broken, and can be loaded again', async () => {
    const { page, goTo, close } = await deviceOf('elif')
    await page.route('**/v3/conversations*', breakConversations)
    await goTo('')
    await page.getByRole('heading', { name: 'Something went wrong' }).waitFor()
    await page.unroute('**/v3/conversations*')
    await page.getByRole('button', { name: 'Load again' }).click()
    await page.getByRole('navigation').getByRole('link').first().waitFor()
    await close()
  })

  it('tells on the desktop what is new, from one tab, until it is read', async () => {
    const { api, pageUrl } = await openDemo()
    const { page, goTo, complaints, close } = await deviceOf('priya', { permissions: ['notifications'] })
    const context = page.context()
    await context.addInitScript(noteNotifications)
    await goTo('#/group/all-hands')
    await page.getByRole('button', { name: /Priya Raman/ }).click()
    await page.getByRole('menuitem', { name: 'Notify me on this desktop' }).click()
    const other = await context.newPage()
    await other.goto(`${pageUrl}/`)
    for (const tab of [page, other]) await tab.getByRole('link', { name: /All hands/ }).waitFor()
    await api('POST', '/messages', text('priya', 'The glue is dry'), 'luis')
    for (const tab of [page, other]) await tab.getByRole('link', { name: /The glue is dry/ }).waitFor()
    const told = async () => [...(await toldIn(page)), ...(await toldIn(other))]
    assert.deepEqual(await told(), ['open: Luis Ferrer, The glue is dry'])
    await api('POST', '/users/luis/conversation/read', {}, 'priya')
    await page
      .getByRole('link', { name: /The glue is dry/ })
      .getByLabel('1 unread')
      .waitFor({ state: 'detached' })
    await other
      .getByRole('link', { name: /The glue is dry/ })
      .getByLabel('1 unread')
      .waitFor({ state: 'detached' })
    assert.deepEqual(await told(), ['closed: Luis Ferrer, The glue is dry'])
    assert.deepEqual(complaints, [])
    await close()
  })

  it('keeps a status message and a theme', async () => {
    const { api } = await openDemo()
    const { page, complaints, close } = await deviceOf('luis')
    const own = page.getByRole('button', { name: /^Luis Ferrer/ })
    await own.click()
    await page.getByRole('menuitem', { name: 'Status message' }).click()
    await page.getByLabel('What are you up to?').fill('في المخزن')
    await page.getByRole('button', { name: 'Save' }).click()
    await own.getByText('في المخزن').waitFor()
    assert.equal((await api('GET', '/users/luis')).body.data.statusMessage, 'في المخزن')
    await own.click()
    await page.getByRole('menuitemradio', { name: 'Dark' }).click()
    await page.reload()
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor()
    assert.deepEqual(complaints, [])
    await close()
  })

  it('shows one column on a phone, with a way back', async () => {
    const { page, complaints, close } = await deviceOf('mei', { viewport: { width: 390, height: 800 } })
    const list = page.getByRole('navigation', { name: 'Conversations' })
    await list.getByRole('link', { name: /All hands/ }).click()
    await boxOf(page).waitFor()
    assert.equal(await list.isVisible(), false)
    await page.getByRole('button', { name: 'Members' }).click()
    await page.getByRole('region', { name: 'Members' }).waitFor()
    assert.equal(await boxOf(page).isVisible(), false)
    await page.getByRole('button', { name: 'Close Members' }).click()
    await page.getByRole('button', { name: 'All conversations' }).click()
    await list.getByRole('link', { name: /All hands/ }).waitFor()
    assert.equal(await isWiderThanWindow(page), false)
    assert.deepEqual(complaints, [])
    await close()
  })

  it('gives every text its own direction, and can be read from right to left as a whole', async () => {
    const { api } = await openDemo()
    await api('POST', '/users', { uid: 'layla', name: 'ليلى حسن' })
    await api('POST', '/messages', text('milo', 'صباح الخير'), 'layla')
    const { page, complaints, close } = await deviceOf('milo', { at: '#/user/layla' })
    const words = page.getByRole('article', { name: /صباح الخير/ }).getByText('صباح الخير')
    await words.waitFor()
    const directionOf = (element: Element) => getComputedStyle(element).direction
    assert.equal(await words.evaluate(directionOf), 'rtl')
    const heading = page.getByRole('heading', { level: 1 })
    const name = heading.getByText('ليلى حسن')
    assert.equal(await name.evaluate(directionOf), 'rtl')
    // It begins where every name does.
    assert.equal((await name.boundingBox())?.x, (await heading.boundingBox())?.x)
    await page.evaluate(() => {
      document.documentElement.dir = 'rtl'
    })
    const [list, main] = [await page.locator('nav').boundingBox(), await page.locator('main').boundingBox()]
    assert.ok(list && main && list.x >= main.x + main.width - 1)
    assert.equal(await isWiderThanWindow(page), false)
    assert.deepEqual(complaints, [])
    await close()
  })
})

/** In the browser: notifications that are told to the test instead of the desktop. */
function noteNotifications(): void {
  const told: string[] = []
  class Noted extends EventTarget {
    static permission = 'granted'
    static requestPermission = async () => 'granted'
    readonly at = told.length
    readonly words: string
    constructor(title: string, { body }: { body: string }) {
      super()
      this.words = `${title}, ${body}`
      told.push(`open: ${this.words}`)
    }
    close(): void {
      told[this.at] = `closed: ${this.words}`
    }
  }
  Object.assign(window, { Notification: Noted, told })
}

const toldIn = (page: Page) => page.evaluate(() => (window as unknown as { told: string[] }).told)

const isWiderThanWindow = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)
