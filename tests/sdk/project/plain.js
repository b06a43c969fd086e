/** Plain JavaScript, without a server: what is asked for goes out as it should, and globals are left alone. */

for (const name of [
  'fetch',
  'setTimeout',
  'crypto',
  'WebSocket',
  'performance',
  'navigator',
  'document',
  'localStorage',
]) {
  const get = () => {
    throw new Error(`${name} was touched`)
  }
  Object.defineProperty(globalThis, name, { get })
}
const { createClient, ParleyError } = await import('@parley/sdk')
const { createAdmin, ParleyError: SameError } = await import('@parley/sdk/admin')
const api = await import('@parley/sdk/api')

const asked = []
const fetch = async (url, { method, headers }) => {
  asked.push(`${method} ${url} ${headers.onBehalfOf ?? ''}`)
  return new Response(JSON.stringify({ data: { uid: 'lin' } }))
}
const runtime = { fetch, after: () => () => {}, randomId: () => 'id' }
const admin = createAdmin({ url: 'https://chat.example.org', apiKey: 'key', runtime })
const lin = await admin.users.get({ uid: 'lin' })
await admin.as('ada').messages.send({ to: { user: 'lin' }, text: 'Hi' })
await admin.call(api.banMember, { guid: 'boats', uid: 'max' })
const refused = await admin.users.get({}).catch((error) => error)
// Made while a page is rendered on a server, a client does nothing.
const client = createClient({ url: 'https://chat.example.org', token: 'token' })
client.conversation({ user: 'lin' }).messages.subscribe(() => {})()
client.logout()
console.log(
  JSON.stringify({
    uid: lin.uid,
    asked,
    refused: [ParleyError.is(refused, 'ERR_USAGE'), ParleyError === SameError],
    state: client.connection.get().state,
    operations: Object.keys(api).length > 100,
  }),
)
