import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deviceOf, openDemo, skip } from './stage.ts'

describe('two people on the chat page', { skip }, () => {
  it('choose who they are, see each other come online and type, and write', async () => {
    const amara = await deviceOf(undefined)
    await amara.page.getByRole('button', { name: /Amara Okafor/ }).click()
    await amara.page.getByRole('navigation', { name: 'Conversations' }).waitFor()
    console.log(await amara.page.locator('body').ariaSnapshot())
    assert.deepEqual(amara.complaints, [])
    await amara.close()
    await openDemo()
  })
})
