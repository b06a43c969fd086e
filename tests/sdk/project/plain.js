import { ParleyError } from '@parley/sdk'
import { createAdmin, ParleyError as SameError } from '@parley/sdk/admin'
import * as api from '@parley/sdk/api'

/** Plain JavaScript, without a server: what is asked for goes out as it should. */

const asked = []
const fetch = async (url, { method, headers }) => {
  asked.push(`${method} ${url} ${headers.onBehalfOf ?? ''}`)
  return new Response(JSON.stringify({ data: { uid: 'lin' } }))
}
const admin = createAdmin({ url: 'https://chat.example.org', apiKey: 'key', runtime: { fetch } })
const lin = await admin.users.get({ uid: 'lin' })
await admin.as('ada').messages.send({ to: { user: 'lin' }, text: 'Hi' })
await admin.call(api.banMember, { guid: 'boats', uid: 'max' })
const refused = await admin.users.get({}).catch((error) => error)
console.log(
  JSON.stringify({
    uid: lin.uid,
    asked,
    refused: [ParleyError.is(refused, 'ERR_USAGE'), ParleyError === SameError],
    operations: Object.keys(api).length > 100,
  }),
)
