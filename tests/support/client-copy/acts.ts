import { type AppClient, assertSucceeds } from '../house.ts'
import { as, say, sayIn } from '../talk.ts'
import type { Scene } from './stage.ts'

type Acts = Record<string, (scene: Scene) => Promise<unknown>>

/** What samples of operations do not do: other bodies, other people, and things that only tell together. */
export const acts: Acts = {
  'a message goes for good with its thread': async ({ app }) => {
    const { id } = await sayIn(app, 'circle', 'fay')
    const { id: replyId } = await sayIn(app, 'circle', 'milo', 'Yes, <@uid:client>', { parentId: id })
    await sayIn(app, 'circle', 'bo', 'No', { parentId: id })
    await put(app, `/messages/${replyId}`, { data: { text: 'Perhaps' } }, 'milo')
    await remove(app, `/messages/${id}`, { permanent: true })
  },
  'a reply goes for good': async ({ app }) => {
    const { id } = await say(app, 'milo', 'client')
    const reply = await say(app, 'client', 'milo', 'Yes', { parentId: id })
    await remove(app, `/messages/${reply.id}`, { permanent: true })
  },
  'what was edited is deleted': async ({ app }) => {
    const { id } = await sayIn(app, 'circle', 'fay', 'One', { tags: ['a'] })
    await post(app, `/messages/${id}/pin`, {}, 'client')
    await put(app, `/messages/${id}`, { data: { text: 'Two, <@uid:milo>' }, tags: ['b'] }, 'fay')
    await remove(app, `/messages/${id}`, {}, 'fay')
  },
  'a message is pinned, and no longer': async ({ app }) => {
    const { id } = await sayIn(app, 'circle', 'fay')
    await post(app, `/messages/${id}/pin`, {}, 'client')
    await remove(app, `/messages/${id}/pin`, {}, 'milo')
  },
  'a thread of others is followed': async ({ app }) => {
    const { id } = await sayIn(app, 'circle', 'fay')
    await sayIn(app, 'circle', 'milo', 'Yes', { parentId: id })
    await post(app, `/messages/${id}/thread/subscription`, {}, 'client')
  },
  'a message is quoted, and edited after that': async ({ app }) => {
    const { id } = await say(app, 'fay', 'client')
    await say(app, 'client', 'fay', 'This', { quotedMessageId: id })
    await put(app, `/messages/${id}`, { data: { text: 'That' } }, 'fay')
  },
  'people talk to themselves, and the app to people': async ({ app }) => {
    await say(app, 'fay', 'fay')
    await post(app, '/messages', { receiver: 'fay', receiverType: 'user', data: { text: 'Hello' } })
    await post(app, '/messages', { receiver: 'circle', receiverType: 'group', data: { text: 'Hello' } })
  },
  'one message goes to several': async ({ app }) => {
    const multipleReceivers = { uids: ['fay', 'milo'], guids: ['circle'] }
    await post(app, '/messages', { multipleReceivers, data: { text: 'Hello' } }, 'client')
  },
  'a custom message comes quietly or not': async ({ app }) => {
    const custom = { category: 'custom', type: 'place', data: { customData: { at: 1 } } }
    await sayIn(app, 'circle', 'fay', '', custom)
  },
  'somebody reads beyond the last word': async ({ app }) => {
    await sayIn(app, 'circle', 'fay')
    await post(app, '/groups/circle/members', { admins: ['gil'] })
    await post(app, '/groups/circle/conversation/read', {}, 'client')
  },
  'everybody reads, and somebody takes it back': async ({ app }) => {
    const { id } = await sayIn(app, 'circle', 'fay')
    await sayIn(app, 'circle', 'fay')
    for (const uid of ['client', 'milo', 'bo']) await post(app, '/groups/circle/conversation/delivered', {}, uid)
    for (const uid of ['client', 'milo', 'bo']) await post(app, '/groups/circle/conversation/read', {}, uid)
    await remove(app, '/groups/circle/conversation/read', { messageId: id }, 'milo')
  },
  'one of two reads, and takes it back': async ({ app }) => {
    const { id } = await say(app, 'fay', 'client')
    await say(app, 'fay', 'client')
    await post(app, '/users/fay/conversation/delivered', {}, 'client')
    await post(app, '/users/fay/conversation/read', {}, 'client')
    await remove(app, '/users/fay/conversation/read', { messageId: id }, 'client')
  },
  'somebody speaks, and takes back having read': async ({ app }) => {
    const { id } = await say(app, 'fay', 'client')
    await say(app, 'fay', 'client')
    await say(app, 'client', 'fay')
    await remove(app, '/users/fay/conversation/read', { messageId: id }, 'client')
  },
  'the blocked speaks where both are': ({ app }) => sayIn(app, 'circle', 'bo', 'For <@uid:client>'),
  'a block is lifted': ({ app }) => remove(app, '/users/client/blockedusers', { blockedUids: ['bo'] }),
  'new friends find each other in their lists': ({ app }) =>
    post(app, '/users/milo/friends', { accepted: ['bo'], addToConversations: true }),
  'a conversation is reset and keeps its place': ({ app }) =>
    remove(app, '/users/fay/conversation', { preserveOrder: true }, 'client'),
  'a conversation is emptied for good and keeps its place for one': ({ app }) =>
    remove(app, '/users/fay/conversation', { deleteMessagesPermanently: true, preserveOrder: true }, 'client'),
  'a reset conversation comes back': async ({ app }) => {
    await remove(app, '/users/fay/conversation', {}, 'client')
    await say(app, 'fay', 'client')
  },
  'conversations are pinned for everyone, and others instead': async ({ app }) => {
    await put(app, '/conversations/pinned', { pinnedConversations: [{ uid: 'fay' }, { guid: 'circle' }] })
    await put(app, '/conversations/pinned', { pinnedConversations: [{ uid: 'milo' }, { guid: 'circle' }] })
  },
  'a conversation is tagged, and no longer': async ({ app }) => {
    await put(app, '/users/fay/conversation', { tags: ['a', 'b'] }, 'client')
    await put(app, '/groups/circle/conversation', { tags: ['a'] }, 'fay')
    await put(app, '/groups/circle/conversation', { tags: [] }, 'fay')
  },
  'a group is described anew': async ({ app }) => {
    await put(app, '/groups/circle', { description: 'Round', metadata: { a: 1 }, tags: ['x'] }, 'client')
    await put(app, '/groups/circle', { unset: ['description'], tags: [] }, 'client')
  },
  'a goal is met': async ({ app }) => {
    const data = { text: 'Press', interactiveData: { cardActions: [button] }, interactionGoal: { type: 'anyAction' } }
    const { id } = await sayIn(app, 'circle', 'fay', '', { category: 'interactive', type: 'card', data })
    await app.send(`/messages/${id}/interacted`, {
      method: 'PATCH',
      body: { interactions: ['ok'] },
      headers: as('client'),
    })
  },
  'a conversation without a word is pinned': ({ app }) => post(app, '/users/ida/conversation/pin', {}, 'client'),
  'a team changes': async ({ app, house }) => {
    for (const list of ['admins', 'moderators', 'collaboratorsToRemove']) {
      const change = { [list]: ['ana@acme.example'] }
      assertSucceeds(await house.management.post(`/apps/${app.id}/collaborators`, change))
    }
  },
  'a role changes': async ({ app }) => {
    await post(app, '/roles', { role: 'tutor', name: 'Tutor' })
    await put(app, '/roles/tutor', { name: 'Lead tutor', settings: { listUsers: 'friendsOnly' } })
    await post(app, '/roles/tutor/restrictedfeatures', { featuresToRestrict: ['sendMessage', 'createGroup'] })
    await remove(app, '/roles/tutor/restrictedfeatures', { featuresToAllow: ['createGroup'] })
  },
}

/** After these, people are not where others of these expect them: each needs a scene of its own. */
export const upheavals: Acts = {
  'a conversation is emptied for good': ({ app }) =>
    remove(app, '/users/fay/conversation', { deleteMessagesPermanently: true }, 'client'),
  'a friend is blocked': ({ app }) => post(app, '/users/client/blockedusers', { blockedUids: ['fay'] }),
  'a group is deleted for everybody who talked in it': ({ app }) =>
    remove(app, '/conversations/group_circle', undefined, 'client'),
  'members come as what they are': ({ app }) =>
    post(app, '/groups/circle/members', { admins: ['gil'], moderators: ['ida'], usersToBan: ['jon'] }, 'client'),
  'a member goes, and comes back': async ({ clients }) => {
    assertSucceeds((await clients.get('fay')?.post('/groups/circle/leave')) as never)
    assertSucceeds((await clients.get('fay')?.post('/groups/circle/join')) as never)
  },
  'a watcher is kicked': ({ app }) => remove(app, '/groups/circle/members/fay', undefined, 'client'),
  'a watcher is banned': ({ app }) => post(app, '/groups/circle/bannedusers/fay', undefined, 'client'),
  'the owner is kicked, and another follows': ({ app }) => remove(app, '/groups/circle/members/client'),
  'a group is given to somebody from outside': ({ app }) => put(app, '/groups/circle', { owner: 'gil' }),
  'scopes change': async ({ app }) => {
    await put(app, '/groups/circle/members/milo', { scope: 'participant' }, 'client')
    await put(app, '/groups/circle/members/fay', { scope: 'moderator' }, 'client')
  },
  'a friend is away': async ({ app }) => {
    await post(app, '/users/gil/friends', { accepted: ['fay'] })
    await remove(app, '/users/gil')
  },
  'somebody is away, and back': async ({ app }) => {
    await post(app, '/users/gil/friends', { accepted: ['fay'] })
    await remove(app, '/users', { uidsToDeactivate: ['gil'] })
    await put(app, '/users', { uidsToActivate: ['gil'] })
  },
  'somebody of a role that is deleted': async ({ app }) => {
    await post(app, '/roles', { role: 'guest', name: 'Guest' })
    await put(app, '/users/fay', { role: 'guest', statusMessage: 'Here', tags: ['x'] })
    await remove(app, '/roles/guest')
  },
  'a member is deleted for good': async ({ app }) => {
    await post(app, '/groups/circle/members', { participants: ['gil'] })
    await post(app, '/users/gil/friends', { accepted: ['fay'] })
    await post(app, '/users/fay/blockedusers', { blockedUids: ['gil'] })
    const { id } = await sayIn(app, 'circle', 'gil')
    await sayIn(app, 'circle', 'milo', 'Yes', { parentId: id })
    await say(app, 'milo', 'gil')
    await post(app, '/users/milo/conversation/read', {}, 'gil')
    await say(app, 'gil', 'milo')
    await post(app, `/messages/${id}/reactions/wave`, {}, 'gil')
    await remove(app, '/users/gil', { permanent: true })
  },
  'somebody banned is deleted for good': ({ app }) => remove(app, '/users/gus', { permanent: true }),
  'calls end in every way there is': async ({ app }) => {
    const toClient = { receiver: 'client', receiverType: 'user', type: 'audio' }
    const ended = await ring(app, 'fay', toClient)
    await put(app, ended, { status: 'ongoing' }, 'client')
    await put(app, ended, { status: 'ended' }, 'fay')
    await put(app, await ring(app, 'fay', toClient), { status: 'rejected' }, 'client')
    await put(app, await ring(app, 'fay', toClient), { status: 'busy' }, 'client')
    await put(app, await ring(app, 'fay', toClient), { status: 'cancelled' }, 'fay')
    const toCircle = { receiver: 'circle', receiverType: 'group', type: 'video' }
    await put(app, await ring(app, 'fay', toCircle), { status: 'rejected' }, 'client')
    // Long ago, so nobody has answered it.
    await app.play({ initiator: 'fay', receiver: 'client', startAt: 1_767_225_600, steps: [] })
  },
}

/** The path of a call that rings. */
async function ring(app: AppClient, uid: string, body: object): Promise<string> {
  const { data } = assertSucceeds(await app.post('/calls', body, as(uid)))
  return `/calls/${data.data.entities.on.entity.sessionid}`
}

const button = { elementType: 'button', elementId: 'ok' }

const acting = (uid: string | undefined) => (uid === undefined ? {} : as(uid))

async function post(app: AppClient, path: string, body: object = {}, uid?: string): Promise<void> {
  assertSucceeds(await app.post(path, body, acting(uid)))
}

async function put(app: AppClient, path: string, body: object, uid?: string): Promise<void> {
  assertSucceeds(await app.put(path, body, acting(uid)))
}

async function remove(app: AppClient, path: string, body: object = {}, uid?: string): Promise<void> {
  assertSucceeds(await app.delete(path, body, acting(uid)))
}
