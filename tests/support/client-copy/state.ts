/** What a client keeps of what the server shows, in a form in which two of them can be compared. */

// biome-ignore lint/suspicious/noExplicitAny: records of every shape
export type Json = any

/** By an id. */
export type Keyed<Value = Json> = Record<string, Value>

export interface Messages {
  messages: Keyed
}

export interface Groups {
  groups: Keyed
  members: Keyed<Keyed>
  /** Of those groups in which the bans may be seen. */
  bans: Keyed<Keyed>
}

/** What one user's client keeps. */
export interface OwnState extends Messages, Groups {
  uid: string
  me: Json
  conversations: Keyed
  /** Users between whom and the own one there is a block. */
  blocks: Keyed
  friends: Keyed<true>
  /** What no event could bring along: the groups that the user came into, each to be fetched with all that is in it. */
  toFetch: Set<string>
}

/** What an app's own back end keeps. */
export interface AppState extends Messages, Groups {
  users: Keyed
  friends: Keyed<Keyed<true>>
  blocks: Keyed<Keyed<number>>
  roles: Keyed
  permissions: Keyed
  /** What holds for a role and for a scope unless it is said otherwise. */
  usual: Keyed<Keyed>
  restricted: Keyed<Keyed<true>>
  /** Permissions of a scope, by group. */
  scopes: Keyed
  pinned: Keyed
  settings: Json
  team: Keyed
}

/** Records of a list by one of their properties. */
export function keyed(list: Json[], name: string, value: (record: Json) => Json = (record) => record): Keyed {
  return Object.fromEntries(list.map((record) => [record[name], value(record)]))
}

export function only(record: Keyed, ...names: string[]): Keyed {
  return Object.fromEntries(names.filter((name) => record[name] !== undefined).map((name) => [name, record[name]]))
}

export function without(record: Keyed, ...names: string[]): Keyed {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)))
}
