import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { payloads } from './payloads.ts'
import { type Demo, type Device, deviceOf, openDemo, skip } from './stage.ts'

/** Whatever people call themselves, their groups and their files, and whatever they say: the page shows it, and runs none of it. */
describe('hostile words on the chat page', { skip }, () => {
  const group = 'hostile-words'
  const people = 40
  let demo: Demo
  let reader: Device

  const at = (n: number) => payloads[n % payloads.length] ?? ''
  async function call(method: string, path: string, body: unknown, onBehalfOf?: string): Promise<void> {
    const { status, text } = await demo.api(method, path, body, onBehalfOf)
    assert.equal(status, 200, `${method} ${path} ${JSON.stringify(body)}: ${text}`)
  }

  before(async () => {
    demo = await openDemo()
    await call('POST', '/users', { uid: 'reader', name: 'Reader' })
    const uids = Array.from({ length: people }, (_, n) => `hostile-${n}`)
    for (const [n, uid] of uids.entries()) {
      const said = { name: at(n).slice(0, 100), statusMessage: at(n + people).slice(0, 255) }
      await call('POST', '/users', { uid, ...said, metadata: { title: at(n + 2 * people) } })
    }
    const name = at(3)
    await call('POST', '/groups', { guid: group, name, description: at(4), type: 'public', owner: 'reader' })
    for (const some of [uids.slice(0, people / 2), uids.slice(people / 2)]) {
      await call('POST', `/groups/${group}/members`, { participants: some })
    }
    for (const [n, text] of payloads.entries()) {
      const url = `https://files.example.org/${encodeURIComponent(text)}`
      const file = { url, name: text, extension: at(n + 1).slice(0, 8), mimeType: 'application/pdf', size: 1 }
      const isFile = n % 4 === 0
      await call(
        'POST',
        '/messages',
        {
          receiver: group,
          receiverType: 'group',
          category: 'message',
          type: isFile ? 'file' : 'text',
          data: { text, metadata: { title: text, link: at(n + 5) }, ...(isFile && { attachments: [file] }) },
          tags: [text.slice(0, 50)],
        },
        uids[n % people],
      )
    }
    for (const [n, uid] of uids.entries()) {
      const data = { text: at(n * 5) }
      await call(
        'POST',
        '/messages',
        { receiver: 'reader', receiverType: 'user', category: 'message', type: 'text', data },
        uid,
      )
    }
    reader = await deviceOf('reader', { at: `#/group/${group}/members` })
  })
  after(() => reader.close())

  it('are 200 and more', () => {
    assert.ok(new Set(payloads).size >= 200, `${new Set(payloads).size}`)
  })

  it('are shown in messages, from the last to the first', async () => {
    const { page } = reader
    await page.getByRole('article').last().waitFor()
    await page.waitForFunction(() => {
      document.querySelector('section[aria-label="Messages"] > div')?.scrollTo(0, 0)
      return document.body.innerText.includes('This is where it began.')
    })
    assert.equal(await page.evaluate('window.__xss'), undefined)
  })

  it('are shown as names of members, in search and in a profile', async () => {
    const { page } = reader
    await page.getByText(/are online/).waitFor()
    await reader.goTo(`#/group/${group}/search`)
    await page.getByRole('searchbox', { name: 'Search messages' }).fill('script')
    await page.getByRole('list', { name: 'Found messages' }).waitFor()
    for (const uid of ['hostile-0', 'hostile-1', 'hostile-2']) {
      await reader.goTo(`#/user/${uid}/person`)
      await page.getByRole('article').first().waitFor()
    }
    assert.equal(await page.evaluate('window.__xss'), undefined)
  })

  it('are nothing in the address', async () => {
    const { page } = reader
    const addressOf = (payload: string) =>
      `#/user/${encodeURIComponent(payload)}/thread/${encodeURIComponent(payload)}?message=${payload}`
    for (const payload of payloads.slice(0, 4)) {
      await reader.goTo(addressOf(payload))
      await page.getByRole('navigation', { name: 'Conversations' }).waitFor()
      assert.equal(await page.evaluate('window.__xss'), undefined, payload)
    }
    // Nor where the page is open already.
    for (const payload of payloads.slice(4, 12)) {
      await page.evaluate(goAndPaint, addressOf(payload))
      assert.equal(await page.evaluate('window.__xss'), undefined, payload)
    }
  })

  it('lead nowhere but to the web', async () => {
    await reader.goTo(`#/group/${group}`)
    await reader.page.getByRole('article').last().waitFor()
    const links = (await reader.page.evaluate(
      "[...document.querySelectorAll('[href],[src]')].map((each) => each.href || each.src).map(String)",
    )) as string[]
    assert.deepEqual(
      links.filter((link) => !/^(https?|blob):/.test(link)),
      [],
    )
  })

  it('run nothing, open nothing and fetch nothing', () => {
    // What the server does not know is told as a failed request; everything else would be ours.
    const known = /Failed to load resource: the server responded with a status of 4\d\d/
    assert.deepEqual(
      reader.complaints.filter((complaint) => !known.test(complaint)),
      [],
    )
  })
})

/** In the browser: goes to an address of the page, and waits until it has been painted. */
function goAndPaint(address: string): Promise<unknown> {
  location.hash = address
  return new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))
}
