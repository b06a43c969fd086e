import type { RoleValues } from './catalogue.ts'
import { isIn } from './permissions.ts'

/** What may be said. Roles and scopes have the same rules for it, once for messages and once more for replies. */

export type Family = 'sendMessage' | 'sendThreadedMessage'

/** A reply is a message, too, and must pass as both: else a ban on messages would leave replies open. */
export function familiesOf(isReply: boolean): Family[] {
  return isReply ? ['sendMessage', 'sendThreadedMessage'] : ['sendMessage']
}

type Rule =
  | 'allowedMessageCategories'
  | 'allowedMessageTypes'
  | 'allowedCustomTypes'
  | 'mimeTypeAccessControl'
  | 'mimeTypes'

/** The values by which content is judged. */
export type ContentValues = Pick<RoleValues, Family | `${Family}.${Rule}`>

export interface ContentToJudge {
  category: string
  /** Several, where it is not known yet which of them it will be: one that passes is enough. */
  type: string | readonly string[]
  /** MIME types of what is attached; each must pass. */
  mimeTypes: readonly string[]
}

/** Whether something may be said: by the act itself, and by every rule below it. */
export function maySay(values: ContentValues, content: ContentToJudge, isReply: boolean): boolean {
  return familiesOf(isReply).every((family) => values[family] === 'allow' && passes(values, family, content))
}

function passes(values: ContentValues, family: Family, { category, type, mimeTypes }: ContentToJudge): boolean {
  return (
    isIn(values[`${family}.allowedMessageCategories`], category) &&
    (category !== 'message' || someIn(values[`${family}.allowedMessageTypes`], type)) &&
    (category !== 'custom' || someIn(values[`${family}.allowedCustomTypes`], type)) &&
    mimeTypes.every((mimeType) => mayAttach(values, family, mimeType))
  )
}

function someIn(list: readonly string[], types: ContentToJudge['type']): boolean {
  return [types].flat().some((type) => isIn(list, type))
}

function mayAttach(values: ContentValues, family: Family, mimeType: string): boolean {
  const listed = values[`${family}.mimeTypes`]
  if (listed.length === 0) return true
  return isMimeTypeIn(listed, mimeType) === (values[`${family}.mimeTypeAccessControl`] === 'allow')
}

/** Whether a list has a MIME type, or the whole type that it belongs to, as `image/*`. */
export function isMimeTypeIn(listed: readonly string[], mimeType: string): boolean {
  // Parameters such as a character set say nothing about what kind of file it is.
  const [essence = ''] = mimeType.toLowerCase().split(';')
  const [main = ''] = essence.split('/')
  const words = listed.map((word) => word.trim().toLowerCase())
  return words.includes(essence.trim()) || words.includes(`${main.trim()}/*`)
}
