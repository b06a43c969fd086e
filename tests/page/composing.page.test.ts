import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page, Request } from 'playwright-core'
import { deviceOf, openDemo, skip } from './stage.ts'

const boxOf = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true })
const isSending = (request: Request) => request.method() === 'POST' && request.url().endsWith('/v3/messages')
const messagesOf = (page: Page) => page.getByRole('main').getByRole('article')

/** What the conversation of two people ends with, as the server has it. */
async function lastBetween(one: string, other: string) {
  const { api } = await openDemo()
  const { body } = await api('GET', `/users/${other}/messages?affix=prepend&limit=1&category=message`, undefined, one)
  return body.data[0]
}

describe('composing on the chat page', { skip }, () => {
  it('sends with Enter, breaks lines with Shift, and leaves Enter to whoever chooses characters', async () => {
    const { page, complaints, close } = await deviceOf('kenji', { at: '#/user/priya' })
    await boxOf(page).fill('はし')
    const isLeft = await boxOf(page).evaluate((box) =>
      [{ isComposing: true }, { keyCode: 229 }].every((how) =>
        box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, ...how })),
      ),
    )
    assert.ok(isLeft)
    assert.equal(await boxOf(page).inputValue(), 'はし')
    await boxOf(page).fill('First line')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('second line')
    await page.keyboard.press('Enter')
    await messagesOf(page).filter({ hasText: 'second line' }).waitFor()
    assert.equal(await boxOf(page).inputValue(), '')
    await page.getByRole('main').getByText('Sending').waitFor({ state: 'detached' })
    assert.deepEqual(complaints, [])
    await close()
  })

  it('keeps a draft for each conversation, also when the window is loaded again', async () => {
    const { page, close } = await deviceOf('luis', { at: '#/user/priya' })
    await boxOf(page).fill('Half a thought')
    await page.evaluate(() => {
      location.hash = '#/group/support'
    })
    await page.getByRole('heading', { name: 'Customer support' }).waitFor()
    assert.equal(await boxOf(page).inputValue(), '')
    await page.reload()
    await boxOf(page).waitFor()
    await page.goBack()
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'Half a thought')
    await close()
  })

  it('mentions members by the name that is shown and the id that is sent', async () => {
    const { page, close } = await deviceOf('amara', { at: '#/group/all-hands' })
    await boxOf(page).pressSequentially('Ahoy @ken')
    await page.getByRole('option', { name: 'Kenji Mori' }).waitFor()
    await page.keyboard.press('Enter')
    assert.equal(await boxOf(page).inputValue(), 'Ahoy @Kenji Mori ')
    await page.keyboard.type('and all')
    // That the group has been read is posted, too, whenever it has been in sight for long enough.
    const sent = page.waitForResponse((answer) => isSending(answer.request()))
    await page.keyboard.press('Enter')
    assert.equal((await (await sent).json()).data.data.text, 'Ahoy <@uid:kenji> and all')
    await close()
  })

  it('edits with Up what was said last, and gives back the draft after it', async () => {
    const { page, close } = await deviceOf('mei', { at: '#/user/jonas' })
    await boxOf(page).fill('Boat at ten')
    await page.keyboard.press('Enter')
    await page
      .getByRole('main')
      .getByRole('article', { name: /Boat at ten/ })
      .waitFor()
    // Only what the server has can be edited.
    await page.getByRole('img', { name: 'On its way' }).waitFor({ state: 'detached' })
    await page.keyboard.press('ArrowUp')
    await page.getByText('Edit your message').waitFor()
    assert.equal(await boxOf(page).inputValue(), 'Boat at ten')
    await page.keyboard.press('Escape')
    assert.equal(await boxOf(page).inputValue(), '')
    await page.keyboard.press('ArrowUp')
    await boxOf(page).fill('Boat at eleven')
    await page.keyboard.press('Enter')
    await messagesOf(page).filter({ hasText: 'Boat at eleven' }).waitFor()
    await page.getByText('Edit your message').waitFor({ state: 'detached' })
    assert.equal((await lastBetween('mei', 'jonas')).data.text, 'Boat at eleven')
    await close()
  })

  it('takes files that are dropped on the conversation, and none that are dropped beside it', async () => {
    const { page, complaints, close } = await deviceOf('elif', { at: '#/user/nora' })
    await boxOf(page).waitFor()
    await drop(page, 'nav', 'stray.txt')
    await drop(page, 'main', 'plan.txt')
    await page.getByRole('list', { name: 'Files' }).getByText('plan.txt').waitFor()
    assert.equal(await page.getByText('stray.txt').count(), 0)
    await boxOf(page).fill('The plan')
    // It may not be there yet: the message waits for it.
    await page.keyboard.press('Enter')
    await messagesOf(page).filter({ hasText: 'plan.txt' }).waitFor()
    const { type, data } = await lastBetween('elif', 'nora')
    assert.deepEqual([type, data.text, data.attachments[0].name], ['file', 'The plan', 'plan.txt'])
    assert.deepEqual(complaints, [])
    await close()
  })

  it('takes files that are pasted, and says of folders that they cannot be sent', async () => {
    const { page, complaints, close } = await deviceOf('elif', { at: '#/user/mei' })
    await boxOf(page).evaluate((box) => {
      const clipboardData = new DataTransfer()
      clipboardData.items.add(new File(['hello'], 'copied.txt', { type: 'text/plain' }))
      box.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData }))
    })
    const files = page.getByRole('list', { name: 'Files' })
    await files.getByText('copied.txt').waitFor()
    await files.getByRole('button', { name: 'Remove copied.txt' }).click()
    await files.waitFor({ state: 'detached' })
    await page.evaluate(() => {
      const folder = { isDirectory: true } as FileSystemEntry
      DataTransferItem.prototype.webkitGetAsEntry = () => folder
    })
    await drop(page, 'main', 'drawings')
    await page.getByText('Folders cannot be sent.').waitFor()
    assert.equal(await files.count(), 0)
    assert.deepEqual(complaints, [])
    await close()
  })

  it('gives a message back that has lost a file on its way, to be sent with it after all', async () => {
    const { page, close } = await deviceOf('elif', { at: '#/user/kenji' })
    let lose = () => {}
    const isLost = new Promise<void>((resolve) => {
      lose = resolve
    })
    await page.route(/\/files\//, async (route) => {
      if (route.request().method() !== 'PUT') return route.continue()
      await isLost
      // Where the network fails, it would be sent again by itself.
      return route.fulfill({ status: 410 })
    })
    await boxOf(page).waitFor()
    await drop(page, 'main', 'sketch.txt')
    await boxOf(page).fill('My sketch')
    await page.keyboard.press('Enter')
    await messagesOf(page).filter({ hasText: 'My sketch' }).waitFor()
    lose()
    const again = page.getByRole('button', { name: 'Try sketch.txt again' })
    await again.waitFor()
    assert.equal(await boxOf(page).inputValue(), 'My sketch')
    assert.equal(await messagesOf(page).filter({ hasText: 'My sketch' }).count(), 0)
    await page.unroute(/\/files\//)
    await again.click()
    await again.waitFor({ state: 'detached' })
    await boxOf(page).press('Enter')
    await messagesOf(page).filter({ hasText: 'sketch.txt' }).waitFor()
    const { type, data } = await lastBetween('elif', 'kenji')
    assert.deepEqual([type, data.text, data.attachments[0].name], ['file', 'My sketch', 'sketch.txt'])
    await close()
  })

  it('quotes what is chosen, with a way not to', async () => {
    const { api } = await openDemo()
    const said = { receiver: 'wanjiru', receiverType: 'user', type: 'text', data: { text: 'Which oil?' } }
    const { id } = (await api('POST', '/messages', { category: 'message', ...said }, 'mei')).body.data
    const { page, complaints, close } = await deviceOf('wanjiru', { at: '#/user/mei' })
    const quote = page.getByRole('form', { name: 'New message' }).getByText('Which oil?')
    const choose = async () => {
      const message = page.getByRole('main').getByRole('article', { name: /Which oil\?/ })
      await message.first().hover()
      await message.first().getByRole('button', { name: 'Quote' }).click()
      await quote.waitFor()
    }
    await choose()
    await page.getByRole('button', { name: 'Do not quote it' }).click()
    await quote.waitFor({ state: 'detached' })
    await choose()
    await boxOf(page).fill('Linseed')
    await page.keyboard.press('Enter')
    await quote.waitFor({ state: 'detached' })
    await messagesOf(page)
      .filter({ hasText: 'Linseed' })
      .getByLabel(/^(Sent|Delivered|Read)/)
      .waitFor()
    assert.equal((await lastBetween('wanjiru', 'mei')).quotedMessageId, id)
    assert.deepEqual(complaints, [])
    await close()
  })

  it('records a voice note, lets one hear it, and sends it as sound', async () => {
    const { page, complaints, close } = await deviceOf('wanjiru', { at: '#/user/nora' })
    await page.getByRole('button', { name: 'Record a voice note' }).click()
    const note = page.getByRole('group', { name: 'Voice note' })
    await note.getByText('Recording 0:01').waitFor()
    await note.getByRole('button', { name: 'Stop' }).click()
    await note.getByLabel('What you have said').waitFor()
    await note.getByRole('button', { name: 'Send' }).click()
    await boxOf(page).waitFor()
    await messagesOf(page).locator('audio').last().waitFor()
    const { type, data } = await lastBetween('wanjiru', 'nora')
    assert.equal(type, 'audio')
    assert.ok(data.attachments[0].size > 0)
    assert.deepEqual(complaints, [])
    await close()
  })

  it('says why one cannot write, with what to do about it', async () => {
    const { api } = await openDemo()
    await api('POST', '/users/jonas/blockedusers', { blockedUids: ['luis'] })
    const blocking = await deviceOf('jonas', { at: '#/user/luis' })
    await blocking.page.getByText('You have blocked Luis Ferrer.').waitFor()
    await blocking.page.getByRole('button', { name: 'Unblock' }).click()
    await boxOf(blocking.page).waitFor()
    await blocking.close()

    const outside = await deviceOf('jonas', { at: '#/group/support' })
    await outside.page.getByLabel('Password of the group').fill('wrong')
    await outside.page.getByRole('button', { name: 'Join' }).click()
    await outside.page
      .getByRole('alert')
      .filter({ hasText: /password/i })
      .waitFor()
    await outside.page.getByLabel('Password of the group').fill('helpdesk')
    await outside.page.getByRole('button', { name: 'Join' }).click()
    await boxOf(outside.page).waitFor()
    await outside.close()
  })
})

/** As a person does it from their desktop; none of it may lead away from the page. */
async function drop(page: Page, place: 'main' | 'nav', name: string): Promise<void> {
  const isTaken = await page.locator(place).evaluate((element, fileName) => {
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File(['hello'], fileName, { type: 'text/plain' }))
    const events = ['dragover', 'drop'].map(
      (type) => new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }),
    )
    return events.every((event) => !element.dispatchEvent(event))
  }, name)
  assert.ok(isTaken)
}
