import { type Client, ParleyError } from '@parley/sdk'
import { freshId, idFrom } from './group-id.ts'

export type GroupType = 'public' | 'password' | 'private'

interface NewGroup {
  name: string
  type: GroupType
  password: string
  members: readonly string[]
}

/** Under an id that says what it is, or under one with a random end, where that is taken. Answers the id. */
export async function createGroup(client: Client, { name, type, password, members }: NewGroup): Promise<string> {
  const group = {
    name,
    type,
    ...(type === 'password' && { password }),
    ...(members.length > 0 && { members: { participants: [...members] } }),
  }
  const guid = idFrom(name) || freshId(name)
  try {
    return (await client.groups.create({ ...group, guid })).guid
  } catch (error) {
    if (!ParleyError.is(error, 'ERR_GUID_ALREADY_EXISTS')) throw error
    return (await client.groups.create({ ...group, guid: freshId(name) })).guid
  }
}
