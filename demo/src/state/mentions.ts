import type { Message } from '@parley/sdk/api'

/** A text as it is written, in which people have names, and as it is sent, in which they have ids. */

export interface Mention {
  readonly uid: string
  /** What stands for them after the "@". */
  readonly label: string
}

export interface Written {
  readonly text: string
  readonly mentions: readonly Mention[]
}

export const nothingWritten: Written = Object.freeze({ text: '', mentions: [] })

/** `<@uid:nora>`: somebody, in a text as it is sent. */
export const mark = /<@uid:([A-Za-z0-9_-]{1,100})>/g

/** The names of whom a text mentions, by their ids in small letters: ids are the same in capitals. */
export function mentionsIn(data: Record<string, unknown> | undefined): ReadonlyMap<string, string> {
  const users = Object.values(Object(data?.mentions)).map(Object)
  return new Map(users.map(({ uid, name }) => [String(uid).toLowerCase(), String(name ?? uid)]))
}

/** Something else in the place of every mark that names somebody. */
export function withoutMarks(
  text: string,
  names: ReadonlyMap<string, string>,
  instead: (uid: string, name: string) => string,
): string {
  return text.replace(mark, (whole, uid: string) => {
    const name = names.get(uid.toLowerCase())
    return name === undefined ? whole : instead(uid, name)
  })
}

/** "@Nora Lind" becomes the mark that the server knows, for those who were chosen and whose name still stands there. */
export function asSent({ text, mentions }: Written): string {
  if (mentions.length === 0) return text
  const uids = new Map(mentions.map(({ label, uid }) => [label, uid]))
  // The longest first, so that "@Ann Lee" is not "@Ann" with something behind it.
  const labels = [...uids.keys()].sort((a, b) => b.length - a.length).map(escaped)
  const named = new RegExp(`(?<![\\p{L}\\p{N}])@(${labels.join('|')})(?![\\p{L}\\p{N}])`, 'gu')
  return text.replace(named, (_, label: string) => `<@uid:${uids.get(label)}>`)
}

/** The other way round, to edit what was sent. */
export function asWritten({ data }: Message): Written {
  let mentions: readonly Mention[] = []
  const text = withoutMarks(String(data.text ?? ''), mentionsIn(data), (uid, name) => {
    mentions = withMention(mentions, { uid, name })
    return `@${labelOf(mentions, uid)}`
  })
  return { text, mentions }
}

/** Two people of one name are told apart by their ids. */
export function withMention(
  mentions: readonly Mention[],
  { uid, name }: { uid: string; name: string },
): readonly Mention[] {
  if (mentions.some((each) => each.uid === uid)) return mentions
  const isTaken = mentions.some(({ label }) => label === name)
  return [...mentions, { uid, label: isTaken ? `${name} (${uid})` : name }]
}

/** One above the other, where there are two. */
export function joined(one: Written, other: Written): Written {
  const text = [one.text, other.text].filter((each) => each.trim() !== '').join('\n')
  const isNew = ({ uid, label }: Mention) => !one.mentions.some((each) => each.uid === uid || each.label === label)
  return { text, mentions: [...one.mentions, ...other.mentions.filter(isNew)] }
}

export const labelOf = (mentions: readonly Mention[], uid: string) =>
  mentions.find((each) => each.uid === uid)?.label ?? uid

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
