import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Device, deviceOf, skip } from './stage.ts'

/** What two people see of each other, each in a browser of their own. */
describe('two people on the chat page', { skip }, () => {
  let amara: Device
  let kenji: Device

  before(async () => {
    amara = await deviceOf(undefined)
    kenji = await deviceOf(undefined)
  })
  after(async () => {
    await amara.close()
    await kenji.close()
  })

  it('choose who they are', async () => {
    await amara.page.getByRole('button', { name: /Amara Okafor/ }).click()
    await amara.page.getByRole('button', { name: 'Amara Okafor' }).waitFor()
    await amara.page.getByRole('button', { name: 'New conversation' }).waitFor()
  })

  it('see each other come online', async () => {
    await amara.page.evaluate("location.hash = '#/user/kenji'")
    await amara.page.getByRole('heading', { name: 'Kenji Mori', level: 1 }).waitFor()
    await kenji.page.getByRole('button', { name: /Kenji Mori/ }).click()
    await amara.page.getByRole('main').getByText('Online', { exact: true }).waitFor()
  })

  it('see each other write, and what was written', async () => {
    await kenji.page.evaluate("location.hash = '#/user/amara'")
    const box = kenji.page.getByRole('textbox', { name: 'Message' })
    await box.pressSequentially('Is the oak here?')
    await amara.page
      .getByRole('main')
      .getByText(/Kenji.* is writing/)
      .waitFor()
    await box.press('Enter')
    await amara.page.getByRole('article', { name: /^Kenji Mori.*Is the oak here\?/ }).waitFor()
    const answer = amara.page.getByRole('textbox', { name: 'Message' })
    await answer.fill('It came this morning.')
    await answer.press('Enter')
    await kenji.page.getByRole('article', { name: /^Amara Okafor.*It came this morning/ }).waitFor()
  })

  it('see that it was read', async () => {
    await amara.page
      .getByRole('article', { name: /It came this morning/ })
      .getByLabel(/^Read/)
      .waitFor()
  })

  it('are told nothing that went wrong', () => {
    assert.deepEqual([...amara.complaints, ...kenji.complaints], [])
  })
})
