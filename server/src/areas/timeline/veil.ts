import type { Actor } from '../../kit/operation.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { everyone, type Sight, sightOf, veiledUser } from '../users/index.ts'
import type { Entity } from './actions.ts'
import type { Message } from './schemas.ts'

type Data = Message['data']

/** Messages as a viewer may see them: of users whom they may not get by UID, nothing but the UID is in them. */
export async function veilFor(db: TenantDb, viewer: Actor | undefined, messages: Message[]): Promise<Message[]> {
  const sees = await sightOf(db, viewer, () => messages.flatMap(uidsIn))
  return sees === everyone ? messages : messages.map((message) => veiled(message, sees))
}

const inside = ['quotedMessage', 'parent', 'lastReply'] as const

function uidsIn(message: Message): string[] {
  const linked = inside.flatMap((name) => (message[name] ? [message[name]] : []))
  return [
    ...Object.keys(mentionsIn(message.data)),
    ...Object.values(entitiesIn(message.data)).flatMap(uidsOf),
    ...linked.flatMap(uidsIn),
  ]
}

function uidsOf({ entity, entityType }: Entity): string[] {
  if (entityType === 'message') return uidsIn(entity as Message)
  return entityType === 'user' ? [(entity as { uid: string }).uid] : []
}

function mentionsIn({ mentions }: Data): Record<string, object> {
  return (mentions ?? {}) as Record<string, object>
}

function entitiesIn({ entities }: Data): Record<string, Entity> {
  return (entities ?? {}) as Record<string, Entity>
}

function veiled(message: Message, sees: Sight): Message {
  const { data } = message
  const linked = inside.flatMap((name) => (message[name] ? [[name, veiled(message[name], sees)]] : []))
  return {
    ...message,
    data: {
      ...data,
      ...(data.mentions !== undefined && {
        mentions: each(mentionsIn(data), (user, uid) => (sees(uid) ? user : veiledUser(uid))),
      }),
      ...(data.entities !== undefined && { entities: each(entitiesIn(data), (entity) => veiledEntity(entity, sees)) }),
    },
    ...Object.fromEntries(linked),
  }
}

function veiledEntity({ entity, entityType }: Entity, sees: Sight): Entity {
  if (entityType === 'message') return { entity: veiled(entity as Message, sees), entityType }
  const [uid] = uidsOf({ entity, entityType })
  return { entity: uid === undefined || sees(uid) ? entity : veiledUser(uid), entityType }
}

function each<From, To>(record: Record<string, From>, change: (value: From, name: string) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]))
}
