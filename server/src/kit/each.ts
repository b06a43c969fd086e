import { ApiError } from './errors.ts'
import { type Static, Type } from './schema.ts'

/** What became of one item of a bulk call. */
export const ItemOutcome = Type.Union([
  Type.Object({ success: Type.Literal(true), message: Type.String() }),
  Type.Object({
    success: Type.Literal(false),
    error: Type.Object({
      code: Type.String(),
      message: Type.String(),
      devMessage: Type.String(),
      source: Type.Literal('chat-api'),
      details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
  }),
])
export type ItemOutcome = Static<typeof ItemOutcome>

/** The results of a bulk call, one for each item sent. */
export const Outcomes = Type.Record(Type.String(), ItemOutcome)

/**
 * Does the work for each item in turn and tells each one's outcome: the work answers its message, and a failure with a
 * code concerns that item alone. It must fail before it writes: there is no rolling back of a single item.
 */
export async function eachItem(
  items: Iterable<string>,
  work: (item: string) => Promise<string> | string,
): Promise<Record<string, ItemOutcome>> {
  // Without a prototype: an item may be called `__proto__`.
  const outcomes: Record<string, ItemOutcome> = Object.create(null)
  for (const item of new Set(items)) {
    try {
      outcomes[item] = { success: true, message: await work(item) }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      outcomes[item] = failure(error)
    }
  }
  return outcomes
}

/** Whether no item succeeded. */
export function allFailed(outcomes: Record<string, ItemOutcome>): boolean {
  return Object.values(outcomes).every(({ success }) => !success)
}

function failure({ code, message, devMessage = message, details }: ApiError): ItemOutcome {
  return { success: false, error: { code, message, devMessage, source: 'chat-api', ...(details && { details }) } }
}
