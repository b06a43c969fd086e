import { channelKey } from '../../kit/channel.ts'
import type { TenantDb } from '../../storage/tenant.ts'
import { relationBetween } from '../blocked-users/index.ts'
import { userChannel } from '../users/events.ts'
import { groupChannel } from './events.ts'
import type { MessageRow } from './tables.ts'

/**
 * Who is told live what somebody does with a message: everybody in its conversation. Between two with a block nobody
 * hears of the other, so only the devices of whoever did it are told. Answers the channels' texts, for the event to keep.
 */
export async function audienceFor(
  db: TenantDb,
  { sender, receiver, receiver_type }: Pick<MessageRow, 'sender' | 'receiver' | 'receiver_type'>,
  by: string,
): Promise<string[]> {
  if (receiver_type === 'group') return [channelKey(groupChannel(receiver))]
  const both = [...new Set([sender, receiver])]
  const other = both.find((uid) => uid !== by)
  const isApart =
    both.includes(by) && other !== undefined && Object.keys(await relationBetween(db, by, other)).length > 0
  return (isApart ? [by] : both).map((uid) => channelKey(userChannel(uid)))
}
