import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { type Device, deviceOf, skip } from './stage.ts'

/** As far as a program can tell, everybody can use every view, in both themes. */

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

/** Each view by where it is, and what is done there and seen when it is shown. */
const views: Record<string, { at: string; show(page: Page): Promise<unknown> }> = {
  'the list, and nothing chosen': { at: '', show: (page) => page.getByText('Choose a conversation').waitFor() },
  'a group': { at: '#/group/design-team', show: (page) => page.getByRole('article').first().waitFor() },
  'a person': { at: '#/user/priya', show: (page) => page.getByRole('article').first().waitFor() },
  members: { at: '#/group/design-team/members', show: (page) => page.getByText(/are online/).waitFor() },
  'a profile': { at: '#/user/priya/person', show: (page) => page.getByRole('complementary').waitFor() },
  search: { at: '#/group/design-team/search', show: (page) => page.getByRole('complementary').waitFor() },
  'a new conversation': {
    at: '',
    show: (page) => opened(page, 'New conversation'),
  },
  'a thread': {
    at: '#/group/design-team',
    show: async (page) => {
      await page.getByText(/2 replies/).click()
      await page.getByRole('complementary').getByRole('article').first().waitFor()
    },
  },
  'what can be done with a message': {
    at: '#/group/design-team',
    show: async (page) => {
      await page.getByRole('article').last().press('Enter')
      await page.getByRole('menuitem').first().waitFor()
    },
  },
  'groups to join': { at: '', show: (page) => opened(page, 'Discover groups') },
}

async function opened(page: Page, button: string): Promise<void> {
  await page.getByRole('button', { name: button }).click()
  await page.getByRole('dialog').waitFor()
}

for (const colorScheme of ['light', 'dark'] as const) {
  describe(`everybody can use the chat page when it is ${colorScheme}`, { skip }, () => {
    let nora: Device
    before(async () => {
      nora = await deviceOf('nora', { colorScheme })
    })
    after(() => nora.close())

    for (const [name, { at, show }] of Object.entries(views)) {
      it(name, async () => {
        await nora.goTo(at)
        await show(nora.page)
        assert.deepEqual(await violationsIn(nora.page), [])
      })
    }

    it('also before anybody is chosen', async () => {
      const nobody = await deviceOf(undefined, { colorScheme })
      await nobody.page.getByRole('heading', { level: 1 }).waitFor()
      assert.deepEqual(await violationsIn(nobody.page), [])
      await nobody.close()
    })
  })
}

/** It comes from outside of the page, whose policy lets no foreign script in. */
async function violationsIn(page: Page): Promise<string[]> {
  await page.evaluate(source)
  const { violations } = (await page.evaluate('axe.run()')) as { violations: Violation[] }
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  )
}
