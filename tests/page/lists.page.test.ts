import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { type Device, deviceOf, openDemo, skip } from './stage.ts'

// The browser notes what the server refuses: a wrong password, and what was asked about members and groups that had just gone.
const refused =
  /^Failed to load resource: the server responded with a status of 40[34] .*\/v3\/groups\/(chairs-tables\/join|(lathe|plane)(\/.*)?)$/

describe('lists of the chat page', { skip }, () => {
  const devices: Device[] = []
  const open = async (...words: Parameters<typeof deviceOf>) => {
    const device = await deviceOf(...words)
    devices.push(device)
    return device.page
  }

  after(async () => {
    const complaints = devices.flatMap((device) => device.complaints).filter((each) => !refused.test(each))
    for (const { close } of devices) await close()
    assert.deepEqual(complaints, [])
  })

  it('shows what is new in a conversation that is not open, and on the tab', async () => {
    const { api } = await openDemo()
    const mei = await open('mei')
    await mei.getByRole('navigation', { name: 'Conversations' }).getByRole('link').first().waitFor()
    await api('POST', '/messages', textTo('mei', 'user', 'The *invoice* is here'), 'jonas')
    const row = mei.getByRole('link', { name: /Jonas Weber/ })
    await row.getByText('The *invoice* is here').waitFor()
    await row.getByLabel('1 unread').waitFor()
    await mei.waitForFunction('/^\\(\\d+\\) /.test(document.title)')
    assert.equal(await row.locator('xpath=..').getAttribute('aria-posinset'), '1')
  })

  it('goes through conversations with arrows, and between parts with F6 and Escape', async () => {
    const nora = await open('nora')
    const links = nora.getByRole('navigation', { name: 'Conversations' }).getByRole('link')
    const focused = nora.locator(':focus')
    await links.nth(2).waitFor()
    await links.first().focus()
    await nora.keyboard.press('ArrowDown')
    await nora.keyboard.press('ArrowDown')
    await links.nth(2).and(focused).waitFor()
    await nora.keyboard.press('Enter')
    const composer = nora.getByRole('main').getByRole('textbox').first()
    await composer.waitFor()
    await links.nth(2).focus()
    await nora.keyboard.press('F6')
    await composer.and(focused).waitFor()
    await links.nth(2).focus()
    await nora.keyboard.press('Escape')
    await composer.and(focused).waitFor()
  })

  it('finds a person to write to', async () => {
    const nora = await open('nora')
    await nora.getByRole('button', { name: 'New conversation' }).click()
    const dialog = nora.getByRole('dialog', { name: 'Write to somebody' })
    await dialog.getByLabel('Find people').fill('waNJ')
    await dialog.getByRole('button', { name: /Wanjiru Kamau/ }).click()
    await nora.waitForURL(/#\/user\/wanjiru$/)
  })

  it('creates a group, which somebody discovers and enters with its password', async () => {
    const kenji = await open('kenji')
    await kenji.getByRole('button', { name: 'Discover groups' }).click()
    await kenji.getByRole('button', { name: 'Create a group' }).click()
    const form = kenji.getByRole('dialog', { name: 'New group' })
    await form.getByLabel('Name').fill('Chairs & tables')
    await form.getByLabel('With a password').check()
    await form.getByRole('textbox', { name: 'Password' }).fill('four legs')
    await form.getByRole('button', { name: 'Create the group' }).click()
    await kenji.waitForURL(/#\/group\/chairs-tables$/)

    const luis = await open('luis')
    await luis.getByRole('button', { name: 'Discover groups' }).click()
    await luis.getByRole('button', { name: 'Join Chairs & tables' }).click()
    const password = luis.getByRole('textbox', { name: 'Password of Chairs & tables' })
    await password.fill('three legs')
    await password.press('Enter')
    await luis.getByRole('dialog').getByRole('alert').waitFor()
    await password.fill('four legs')
    await password.press('Enter')
    await luis.waitForURL(/#\/group\/chairs-tables$/)
  })

  it('bans a member, who is then among the banned, and lifts the ban', async () => {
    const { api } = await openDemo()
    await api('POST', '/groups', { guid: 'lathe', name: 'Lathe', members: { participants: ['wanjiru'] } }, 'jonas')
    const jonas = await open('jonas', { at: '#/group/lathe/members' })
    await jonas.getByRole('button', { name: 'Actions for Wanjiru Kamau' }).click()
    await jonas.getByRole('menuitem', { name: 'Ban' }).click()
    await jonas.getByRole('dialog').getByRole('button', { name: 'Ban' }).click()
    await jonas.getByRole('button', { name: 'Lift the ban on Wanjiru Kamau' }).click()
    await jonas.getByRole('region', { name: 'Banned' }).waitFor({ state: 'detached' })
    await jonas.getByRole('button', { name: 'Actions for Wanjiru Kamau' }).waitFor({ state: 'detached' })
  })

  it('leads a group: roles, its name, members who come and go, another owner', async () => {
    const { api } = await openDemo()
    const members = { participants: ['wanjiru', 'mei'] }
    await api('POST', '/groups', { guid: 'plane', name: 'Plane', type: 'public', members }, 'jonas')
    const jonas = await open('jonas', { at: '#/group/plane/members' })
    const dialog = jonas.getByRole('dialog')
    const actionsFor = (name: string) => jonas.getByRole('button', { name: `Actions for ${name}` })
    const act = async (name: string, item: string, yes: string) => {
      await actionsFor(name).click()
      await jonas.getByRole('menuitem', { name: item, exact: true }).click()
      await dialog.getByRole('button', { name: yes }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    await act('Wanjiru Kamau', 'Make moderator', 'Make moderator')
    await jonas.getByRole('button', { name: /Wanjiru Kamau.*Moderator/ }).waitFor()

    await jonas.getByRole('button', { name: 'Edit', exact: true }).click()
    await dialog.getByLabel('Name').fill('Plane & saw')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await jonas.getByRole('heading', { name: 'Plane & saw', level: 1 }).waitFor()

    await jonas.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByLabel('Find people').fill('kenji')
    await dialog.getByRole('button', { name: /Kenji Mori/ }).click()
    await dialog.getByRole('button', { name: 'Add to the group' }).click()
    await act('Kenji Mori', 'Remove', 'Remove')
    await actionsFor('Kenji Mori').waitFor({ state: 'detached' })

    await act('Mei Chen', 'Make owner', 'Hand the group over')
    await jonas.getByRole('button', { name: /Mei Chen.*Owner/ }).waitFor()
    await jonas.getByRole('button', { name: 'Leave' }).click()
    await dialog.getByRole('button', { name: 'Leave' }).click()
    await jonas.getByRole('link', { name: /Plane & saw/ }).waitFor({ state: 'detached' })

    const mei = await open('mei', { at: '#/group/plane/members' })
    await mei.getByRole('button', { name: 'Delete', exact: true }).click()
    await mei.getByRole('dialog').getByRole('button', { name: 'Delete the group' }).click()
    await mei.getByRole('link', { name: /Plane & saw/ }).waitFor({ state: 'detached' })
    assert.equal((await api('GET', '/groups/plane')).status, 404)
  })

  it('marks conversations in which something is begun', async () => {
    const nora = await open('nora', { at: '#/group/all-hands' })
    await nora.getByRole('textbox', { name: 'Message', exact: true }).fill('Not yet')
    await nora.getByRole('link', { name: /Priya Raman/ }).click()
    await nora.getByRole('link', { name: /All hands.*Draft: Not yet/ }).waitFor()
  })

  it('blocks and unblocks somebody', async () => {
    const milo = await open('milo', { at: '#/user/amara/person' })
    await milo.getByRole('button', { name: 'Block', exact: true }).click()
    await milo.getByRole('button', { name: 'Unblock', exact: true }).first().waitFor()
    await milo.getByRole('button', { name: /Milo Brandt/ }).click()
    await milo.getByRole('menuitem', { name: 'Blocked people' }).click()
    await milo.getByRole('button', { name: 'Unblock Amara Okafor' }).click()
    await milo.getByText('You have blocked nobody.').waitFor()
  })

  it('finds what was said anywhere, and goes to it', async () => {
    const nora = await open('nora')
    await nora.getByRole('button', { name: 'Search everywhere' }).click()
    await nora.getByRole('searchbox').fill('travel costs')
    await nora
      .getByRole('link', { name: /travel costs/ })
      .and(nora.locator('aside a'))
      .click()
    await nora.waitForURL(/#\/group\/all-hands\/search\/everywhere\?words=travel\+costs&message=\d+$/)
  })

  it('searches again, on the way back, for what was searched for there', async () => {
    const nora = await open('nora', { at: '#/group/all-hands/search/everywhere?words=travel+costs' })
    const words = nora.getByRole('searchbox')
    await nora.locator('aside a').first().click()
    await nora.waitForURL(/words=travel\+costs&message=\d+$/)
    await words.fill('chair')
    await nora.waitForURL(/words=chair$/)
    await nora.goBack()
    await nora.waitForFunction(() => document.querySelector<HTMLInputElement>('aside input')?.value === 'travel costs')
    await nora
      .getByRole('link', { name: /travel costs/ })
      .and(nora.locator('aside a'))
      .waitFor()
    assert.match(nora.url(), /words=travel\+costs$/)
  })
})

function textTo(receiver: string, receiverType: string, text: string) {
  return { receiver, receiverType, category: 'message', type: 'text', data: { text } }
}
