import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { breakConversations, type Device, deviceOf, openDemo, skip } from './stage.ts'

/** As far as a program can tell, everybody can use every view, in both themes. */

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

interface View {
  at: string
  /** What is done there, and seen when it is shown. */
  show(page: Page): Promise<unknown>
  /** Where it is another on a phone. */
  onPhone?: boolean
}

const panelOf = (page: Page) => page.getByLabel('Beside the conversation')
const message = (page: Page) => page.getByRole('article').first().waitFor()

const views: Record<string, View> = {
  'the list, and nothing chosen': {
    at: '',
    show: (page) => page.getByRole('navigation').getByRole('link').first().waitFor(),
    onPhone: true,
  },
  'a group': { at: '#/group/design-team', show: message, onPhone: true },
  'a person': { at: '#/user/priya', show: message },
  members: {
    at: '#/group/design-team/members',
    show: (page) => page.getByText(/are online/).waitFor(),
    onPhone: true,
  },
  'a profile': { at: '#/user/priya/person', show: (page) => panelOf(page).waitFor() },
  search: { at: '#/group/design-team/search', show: (page) => panelOf(page).waitFor() },
  'a new conversation': {
    at: '',
    show: (page) => opened(page, 'New conversation'),
  },
  'a thread': {
    at: '#/group/design-team',
    show: async (page) => {
      await page.getByText(/2 replies/).click()
      await panelOf(page).getByRole('article').first().waitFor()
    },
    onPhone: true,
  },
  'what can be done with a message': {
    at: '#/group/design-team',
    show: async (page) => {
      await page.getByRole('article').last().press('Enter')
      await page.getByRole('menuitem').first().waitFor()
    },
    onPhone: true,
  },
  'what is pinned': {
    at: '#/group/design-team',
    show: async (page) => {
      await message(page)
      await page.getByRole('button', { name: 'Pinned messages' }).click()
      await page.getByRole('dialog', { name: 'Pinned messages' }).getByRole('listitem').first().waitFor()
    },
  },
  'who has read something': {
    at: '#/group/design-team',
    show: async (page) => {
      await page
        .getByRole('button', { name: /Who has read it/ })
        .last()
        .click()
      await page.getByRole('list', { name: 'Who has received and read it' }).getByRole('listitem').first().waitFor()
    },
  },
  'blocked people': {
    at: '',
    show: async (page) => {
      await chosenInMenu(page, 'Blocked people')
      await page.getByRole('button', { name: 'Unblock Nobody Special' }).waitFor()
    },
  },
  'a status message': { at: '', show: (page) => chosenInMenu(page, 'Status message') },
  'groups to join': { at: '', show: (page) => opened(page, 'Discover groups') },
}

async function opened(page: Page, button: string): Promise<void> {
  await page.getByRole('button', { name: button }).click()
  await page.getByRole('dialog').waitFor()
}

async function chosenInMenu(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: /^Nora/ }).click()
  await page.getByRole('menuitem', { name: item }).click()
  await page.getByRole('dialog').waitFor()
}

before(async () => {
  if (skip) return
  const { api } = await openDemo()
  await api('POST', '/users', { uid: 'nobody-special', name: 'Nobody Special' })
  await api('POST', '/users/nora/blockedusers', { blockedUids: ['nobody-special'] })
  const { body } = await api('POST', '/messages', textTo('design-team', 'Has everybody seen the plan?'), 'nora')
  const read = await api('POST', '/groups/design-team/conversation/read', {}, 'milo')
  const pinned = await api('POST', `/messages/${body.data.id}/pin`, {}, 'milo')
  assert.deepEqual([read.status, pinned.status], [200, 200])
})

const textTo = (receiver: string, text: string) => ({
  ...{ receiver, receiverType: 'group', category: 'message', type: 'text', data: { text } },
})

describe('everybody can use the chat page, light and dark', { skip }, () => {
  let nora: Device
  before(async () => {
    nora = await deviceOf('nora')
  })
  after(() => nora.close())

  for (const [name, { at, show }] of Object.entries(views)) {
    it(name, async () => {
      await nora.goTo(at)
      await show(nora.page)
      await assertUsable(nora.page, name)
    })
  }

  it('also on a phone', async () => {
    const phone = await deviceOf('nora', { viewport: { width: 390, height: 780 }, hasTouch: true })
    for (const [name, { at, show }] of Object.entries(views).filter(([, { onPhone }]) => onPhone)) {
      await phone.goTo(at)
      await show(phone.page)
      await assertUsable(phone.page, name)
    }
    await phone.close()
  })

  it('also when it is broken', async () => {
    const broken = await deviceOf('nora')
    await broken.page.route('**/v3/conversations*', breakConversations)
    await broken.goTo('')
    await broken.page.getByRole('button', { name: 'Load again' }).waitFor()
    await assertUsable(broken.page, 'broken')
    await broken.close()
  })

  it('also before anybody is chosen', async () => {
    const nobody = await deviceOf(undefined)
    await nobody.page.getByRole('heading', { level: 1 }).waitFor()
    await assertUsable(nobody.page, 'nobody chosen')
    await nobody.close()
  })
})

const aboutColours = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }

/** Themes differ in colours alone, so it is the rules about colours that are held against both. */
async function assertUsable(page: Page, name: string): Promise<void> {
  // It comes from outside of the page, whose policy lets no foreign script in.
  await page.evaluate(source)
  assert.deepEqual(await violationsIn(page, {}), [], name)
  await turn(page, 'dark')
  assert.deepEqual(await violationsIn(page, { runOnly: aboutColours }), [], `${name}, dark`)
  await turn(page, 'light')
}

async function turn(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
  await page.waitForFunction(() => !document.getAnimations().some((each) => each instanceof CSSTransition))
}

async function violationsIn(page: Page, options: { runOnly?: typeof aboutColours }): Promise<string[]> {
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as { violations: Violation[] }
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  )
}
