import assert from 'node:assert/strict'
import { it } from 'node:test'
import { areas } from '../server/src/areas/index.ts'

/**
 * What each door opens, and to whom. It is written out by hand on purpose: opening an operation to another caller is then
 * a line that a reviewer sees, not a side effect of a change elsewhere.
 *
 * doors, route, key scopes (server door only), onBehalfOf, rate class, largest body in bytes
 */
const opened = `
server      POST   /v3/apikeys                             fullAccess  unsupported  standard  10240
server      GET    /v3/apikeys                             fullAccess  unsupported  standard  10240
server      GET    /v3/apikeys/{apiKey}                    fullAccess  unsupported  standard  10240
server      PUT    /v3/apikeys/{apiKey}                    fullAccess  unsupported  standard  10240
server      DELETE /v3/apikeys/{apiKey}                    fullAccess  unsupported  standard  10240
server      POST   /v3/roles                              fullAccess  unsupported  standard  10240
server      GET    /v3/roles                              fullAccess  unsupported  standard  10240
server      GET    /v3/roles/{role}                       fullAccess  unsupported  standard  10240
server      PUT    /v3/roles/{role}                       fullAccess  unsupported  standard  10240
server      DELETE /v3/roles/{role}                       fullAccess  unsupported  standard  10240
management  POST   /apps                                   -           unsupported  standard  10240
management  GET    /apps                                   -           unsupported  standard  10240
management  GET    /apps/{appId}                           -           unsupported  standard  10240
management  DELETE /apps/{appId}                           -           unsupported  standard  10240
management  GET    /apps/{appId}/settings                  -           unsupported  standard  10240
management  POST   /apps/{appId}/settings                  -           unsupported  standard  10240
management  DELETE /apps/{appId}/settings                  -           unsupported  standard  10240
management  POST   /apps/{appId}/collaborators             -           unsupported  standard  10240
management  GET    /apps/{appId}/collaborators             -           unsupported  standard  10240
server      GET    /v3/app                                 fullAccess  unsupported  standard  10240
server      POST   /v3/roles/{role}/restrictedfeatures    fullAccess  unsupported  standard  10240
server      GET    /v3/roles/{role}/restrictedfeatures    fullAccess  unsupported  standard  10240
server      DELETE /v3/roles/{role}/restrictedfeatures    fullAccess  unsupported  standard  10240
server      GET    /v3/roles/{role}/permissions           fullAccess  unsupported  standard  10240
server      PUT    /v3/roles/{role}/permissions           fullAccess  unsupported  standard  10240
server      DELETE /v3/roles/{role}/permissions/{permission} fullAccess  unsupported  standard  10240
server        POST   /v3/users                           fullAccess,authOnly unsupported core     10240
server,client GET    /v3/users                           fullAccess  optional     standard  10240
client        GET    /v3/users/online-count              -           unsupported  standard  10240
server,client GET    /v3/users/{uid}                     fullAccess  optional     standard  10240
server        PUT    /v3/users/{uid}                     fullAccess  unsupported  standard  10240
server        DELETE /v3/users/{uid}                     fullAccess  unsupported  core      10240
server        DELETE /v3/users                           fullAccess  unsupported  core      10240
server        PUT    /v3/users                           fullAccess  unsupported  standard  10240
client        GET    /v3/me                              -           unsupported  standard  10240
client        PUT    /v3/me                              -           unsupported  standard  10240
server        POST   /v3/users/{uid}/auth_tokens         fullAccess,authOnly unsupported standard 10240
server        GET    /v3/users/{uid}/auth_tokens         fullAccess  unsupported  standard  10240
server        DELETE /v3/users/{uid}/auth_tokens         fullAccess  unsupported  standard  10240
server        GET    /v3/users/{uid}/auth_tokens/{authToken} fullAccess unsupported standard 10240
server        PUT    /v3/users/{uid}/auth_tokens/{authToken} fullAccess unsupported standard 10240
server        DELETE /v3/users/{uid}/auth_tokens/{authToken} fullAccess unsupported standard 10240
server        POST   /v3/users/{uid}/friends             fullAccess  unsupported  standard  10240
server        GET    /v3/users/{uid}/friends             fullAccess  unsupported  standard  10240
server        DELETE /v3/users/{uid}/friends             fullAccess  unsupported  standard  10240
server,client POST   /v3/users/{uid}/blockedusers        fullAccess  unsupported  standard  10240
server,client GET    /v3/users/{uid}/blockedusers        fullAccess  unsupported  standard  10240
server,client DELETE /v3/users/{uid}/blockedusers        fullAccess  unsupported  standard  10240
server,client POST   /v3/groups                          fullAccess  optional     core      10240
server,client GET    /v3/groups                          fullAccess  optional     standard  10240
client        GET    /v3/groups/online-counts            -           unsupported  standard  10240
server,client GET    /v3/groups/{guid}                   fullAccess  optional     standard  10240
server,client PUT    /v3/groups/{guid}                   fullAccess  optional     standard  10240
server,client DELETE /v3/groups/{guid}                   fullAccess  optional     standard  10240
client        PUT    /v3/groups/{guid}/owner             -           unsupported  standard  10240
server      GET    /v3/groups/{guid}/scopes/{scope}/permissions fullAccess  unsupported  standard  10240
server      PUT    /v3/groups/{guid}/scopes/{scope}/permissions fullAccess  unsupported  standard  10240
server      DELETE /v3/groups/{guid}/scopes/{scope}/permissions/{permission} fullAccess  unsupported  standard  10240
server,client POST   /v3/files                           fullAccess  required     standard  65536
server,client POST   /v3/groups/{guid}/members           fullAccess  optional     standard  10240
server,client GET    /v3/groups/{guid}/members           fullAccess  optional     standard  10240
server,client GET    /v3/groups/{guid}/members/{uid}     fullAccess  optional     standard  10240
server,client PUT    /v3/groups/{guid}/members/{uid}     fullAccess  optional     standard  10240
server,client DELETE /v3/groups/{guid}/members/{uid}     fullAccess  optional     standard  10240
client        POST   /v3/groups/{guid}/join              -           unsupported  core      10240
client        POST   /v3/groups/{guid}/leave             -           unsupported  core      10240
server,client POST   /v3/groups/{guid}/bannedusers/{uid} fullAccess  optional     standard  10240
server,client DELETE /v3/groups/{guid}/bannedusers/{uid} fullAccess  optional     standard  10240
server,client GET    /v3/groups/{guid}/bannedusers       fullAccess  optional     standard  10240
server,client POST   /v3/groups/{guid}/banned_members/{uid} fullAccess  optional     standard  10240
server,client DELETE /v3/groups/{guid}/banned_members/{uid} fullAccess  optional     standard  10240
server,client GET    /v3/groups/{guid}/banned_members    fullAccess  optional     standard  10240
server,client POST   /v3/messages                               fullAccess  optional     standard  262144
server,client POST   /v3/users/{uid}/messages                   fullAccess  optional     standard  262144
server,client POST   /v3/groups/{guid}/messages                 fullAccess  optional     standard  262144
server,client GET    /v3/messages                               fullAccess  optional     standard  10240
server,client GET    /v3/messages/{id}                          fullAccess  optional     standard  10240
server,client PUT    /v3/messages/{id}                          fullAccess  optional     standard  262144
server,client DELETE /v3/messages/{id}                          fullAccess  optional     standard  10240
server,client GET    /v3/users/{uid}/messages                   fullAccess  optional     standard  10240
server,client GET    /v3/groups/{guid}/messages                 fullAccess  optional     standard  10240
server,client GET    /v3/messages/{id}/receipts                 fullAccess  optional     standard  10240
server        POST   /v3/bots/{uid}/messages                    fullAccess  unsupported  standard  262144
server,client GET    /v3/conversations                          fullAccess  optional     standard  10240
server        GET    /v3/conversations/pinned                   fullAccess  unsupported  standard  10240
server        PUT    /v3/conversations/pinned                   fullAccess  unsupported  standard  10240
server,client GET    /v3/conversations/{conversationId}         fullAccess  required     standard  10240
server        DELETE /v3/conversations/{conversationId}         fullAccess  required     standard  10240
server,client GET    /v3/users/{uid}/conversation               fullAccess  required     standard  10240
server,client GET    /v3/groups/{guid}/conversation             fullAccess  required     standard  10240
server,client PUT    /v3/users/{uid}/conversation               fullAccess  required     standard  10240
server,client PUT    /v3/groups/{guid}/conversation             fullAccess  required     standard  10240
server,client DELETE /v3/users/{uid}/conversation               fullAccess  required     standard  10240
server,client DELETE /v3/groups/{guid}/conversation             fullAccess  required     standard  10240
server,client POST   /v3/users/{uid}/conversation/delivered     fullAccess  required     standard  10240
server,client POST   /v3/groups/{guid}/conversation/delivered   fullAccess  required     standard  10240
server,client POST   /v3/users/{uid}/conversation/read          fullAccess  required     standard  10240
server,client POST   /v3/groups/{guid}/conversation/read        fullAccess  required     standard  10240
server,client DELETE /v3/users/{uid}/conversation/read          fullAccess  required     standard  10240
server,client DELETE /v3/groups/{guid}/conversation/read        fullAccess  required     standard  10240
server,client POST   /v3/users/{uid}/conversation/pin           fullAccess  required     standard  10240
server,client POST   /v3/groups/{guid}/conversation/pin         fullAccess  required     standard  10240
server,client DELETE /v3/users/{uid}/conversation/pin           fullAccess  required     standard  10240
server,client DELETE /v3/groups/{guid}/conversation/pin         fullAccess  required     standard  10240
server,client GET    /v3/messages/{id}/reactions                fullAccess  optional     standard  10240
server,client GET    /v3/messages/{id}/reactions/{reaction}     fullAccess  optional     standard  10240
server,client POST   /v3/messages/{id}/reactions/{reaction}     fullAccess  required     standard  10240
server,client POST   /v3/messages/{id}/reactions                fullAccess  required     standard  10240
server,client DELETE /v3/messages/{id}/reactions/{reaction}     fullAccess  required     standard  10240
server,client POST   /v3/messages/{id}/thread                   fullAccess  optional     standard  262144
server,client GET    /v3/messages/{id}/thread                   fullAccess  optional     standard  10240
server,client GET    /v3/threads                                fullAccess  optional     standard  10240
server,client POST   /v3/messages/{id}/thread/subscription      fullAccess  required     standard  10240
server,client DELETE /v3/messages/{id}/thread/subscription      fullAccess  required     standard  10240
server,client POST   /v3/messages/{id}/pin                      fullAccess  optional     standard  10240
server,client DELETE /v3/messages/{id}/pin                      fullAccess  optional     standard  10240
server,client POST   /v3/messages/{id}/save                     fullAccess  required     standard  10240
server,client DELETE /v3/messages/{id}/save                     fullAccess  required     standard  10240
server,client PATCH  /v3/messages/{id}/interacted               fullAccess  required     standard  10240
server,client POST   /v3/messages/{id}/interactions             fullAccess  required     standard  10240
server,client GET    /v3/me/settings                            fullAccess  required     standard  10240
server,client GET  /v3/calls                               fullAccess  optional     standard  10240
server,client GET  /v3/calls/{sessionId}                   fullAccess  optional     standard  10240
server      GET    /v3/calls/{sessionId}/transcriptions    fullAccess  optional     standard  10240
server      GET    /v3/calls/{sessionId}/explain           fullAccess  optional     standard  10240
server,client POST /v3/calls                               fullAccess  required     standard  32768
server,client PUT  /v3/calls/{sessionId}                   fullAccess  required     standard  10240
server,client POST /v3/calls/{sessionId}/token             fullAccess  required     standard  10240
emulator    POST   /_emulator/calls/script                 fullAccess  unsupported  standard  1048576
emulator    GET    /_emulator/clock                        fullAccess  unsupported  standard  10240
emulator    PUT    /_emulator/clock                        fullAccess  unsupported  standard  10240
emulator    DELETE /_emulator/clock                        fullAccess  unsupported  standard  10240
`

const prefixes = { v3: '/v3', management: '', emulator: '/_emulator' }

it('opens exactly the operations written down here, to exactly these callers', () => {
  const found = areas.flatMap(({ mount, operations }) =>
    operations.map(({ door, doors, method, path, keys, onBehalfOf, rate, bodyBytesMax }) =>
      [
        mount === 'emulator' ? mount : doors.join(',') || door,
        method,
        `${prefixes[mount]}${path}`,
        keys.join(',') || '-',
        onBehalfOf,
        rate,
        bodyBytesMax,
      ].join(' '),
    ),
  )
  const written = opened
    .trim()
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' '))
  assert.deepEqual(found, written)
})

it('gives every operation a name of its own', () => {
  const ids = areas.flatMap(({ operations }) => operations.map(({ id }) => id))
  assert.equal(new Set(ids).size, ids.length)
})

/** Of two followers with one name one would never move; of two jobs one would never run. */
it('gives every follower, job, event, table and migration a name of its own', () => {
  const namesOf = (pick: (area: (typeof areas)[number]) => string[]) => areas.flatMap(pick)
  for (const names of [
    namesOf(({ followers }) => followers.map(({ name }) => name)),
    namesOf(({ jobs }) => jobs.map(({ name }) => name)),
    namesOf(({ events }) => events.map(({ name }) => name)),
    namesOf(({ tables, installTables }) => [...tables, ...installTables]),
    namesOf(({ migrations }) => Object.keys(migrations)),
    namesOf(({ name }) => [name]),
  ]) {
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    )
  }
})

/** What follows a slash is a job's destination, or its key. */
it('gives no job a name with a slash in it', () => {
  const names = areas.flatMap(({ jobs }) => jobs.map(({ name }) => name))
  assert.deepEqual(
    names.filter((name) => name.includes('/')),
    [],
  )
})
