import type { SendMessageInput } from '../generated/operations.ts'
import type { Failure } from '../http/errors.ts'

/** What is kept of an entry of the outbox across reloads. */
export interface KeptEntry {
  lane: string
  input: SendMessageInput & { muid: string }
  /** Since when it waits, in milliseconds of the clock on the wall. */
  since: number
  /** Why it has failed, if it has. */
  error?: Pick<Failure, 'code' | 'kind' | 'message'>
}

/** The entries in what was stored; all else is passed over, whoever has written it. */
export function keptIn(stored: unknown): KeptEntry[] {
  return Array.isArray(stored) ? stored.filter(isKept) : []
}

function isKept(each: unknown): each is KeptEntry {
  const { lane, input, since, error } = Object(each)
  const { muid, receiver, receiverType } = Object(input)
  const texts = [lane, muid, receiver, ...(error === undefined ? [] : [error?.code, error?.kind, error?.message])]
  return (
    texts.every((text) => typeof text === 'string') &&
    (receiverType === 'user' || receiverType === 'group') &&
    typeof since === 'number'
  )
}
