import { createClient, ParleyError } from '@parley/sdk'
import { createAdmin, createManagement } from '@parley/sdk/admin'
import { banMember, createApp, createUser, type EventPayloads, joinGroup, requestUploads } from '@parley/sdk/api'

/** What cannot work does not compile. */

// @ts-expect-error a key is needed
createAdmin({ url: 'https://4be21f90.api-eu.example.org' })

const admin = createAdmin({ url: 'https://4be21f90.api-eu.example.org', apiKey: 'key' })

export const wrong = [
  // @ts-expect-error no such method
  () => admin.users.lists(),
  // @ts-expect-error no such filter
  () => admin.users.list({ roll: 'default' }),
  // @ts-expect-error of another type
  () => admin.users.list({ perPage: '5' }),
  // @ts-expect-error a value of the path is missing
  () => admin.users.get(),
  // @ts-expect-error a word that is none
  () => admin.groups.create({ guid: 'boats', name: 'Boats', type: 'secret' }),
  // @ts-expect-error for nobody
  () => admin.messages.send({ text: 'Hi' }),
  // @ts-expect-error only on behalf of somebody
  () => admin.files.requestUploads({ files: [] }),
  // @ts-expect-error never on behalf of somebody
  () => admin.as('ada').users.create({ uid: 'new', name: 'New' }),
  // @ts-expect-error only for clients, who have a token
  () => admin.call(joinGroup, { guid: 'boats' }),
  // @ts-expect-error only on behalf of somebody
  () => admin.call(requestUploads, { files: [] }),
  // @ts-expect-error only with a management key
  () => admin.call(createApp, { name: 'App', region: 'eu' }),
  // @ts-expect-error without whom
  () => admin.call(banMember, { guid: 'boats' }),
  // @ts-expect-error a management key opens no app
  () => createManagement({ url: 'https://apimgmt.example.org', key: 'k', secret: 's' }).users,
  // @ts-expect-error no such code
  (error: unknown) => ParleyError.is(error, 'ERR_BLOCKED_RECIEVER'),
  // @ts-expect-error no such field
  async () => (await admin.users.get({ uid: 'ada' })).nickname,
  // @ts-expect-error a list is no promise
  async () => (await admin.users.list()).length,
]

// @ts-expect-error no such event
export type Unheard = EventPayloads['message.sneezed']

// @ts-expect-error who it is must be said
createClient({ url: 'https://4be21f90.api-eu.example.org' })

const client = createClient({ url: 'https://4be21f90.api-eu.example.org', token: 'token' })
const lin = client.conversation({ user: 'lin' })

export const wrongOfClients = [
  // @ts-expect-error no such event
  () => client.on('message.sneezed', () => {}),
  // @ts-expect-error not in this event
  () => client.on('message.received', ({ reaction }) => reaction),
  // @ts-expect-error with nobody
  () => client.conversation({}),
  // @ts-expect-error by a composed id
  () => client.conversation('ada_user_lin'),
  // @ts-expect-error no such content
  () => lin.send({ txt: 'Hi' }),
  // @ts-expect-error what is on its way has no id yet
  () => lin.messages.get().items.map((item) => item.message.id),
  // @ts-expect-error snapshots are only read
  () => lin.messages.get().items.push(),
  // @ts-expect-error no such scope
  () => client.group('boats').changeScope('max', 'captain'),
  // @ts-expect-error no such filter
  () => client.groups.list({ joined: true }),
  // @ts-expect-error one person at a time
  () => client.block(['max']),
  // @ts-expect-error of another type
  () => createClient({ url: 'https://4be21f90.api-eu.example.org', token: 'token', storage: new Map() }),
  // @ts-expect-error only with a key
  () => client.call(createUser, { uid: 'new', name: 'New' }),
  // @ts-expect-error without which
  () => client.call(joinGroup),
]
