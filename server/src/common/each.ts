import { ApiError } from '../kit/errors.ts'
import { type Static, Type } from '../kit/schema.ts'

/** Which part answers; every error says so. */
type Source = 'chat-api' | 'mgmt-api'

const outcomeFrom = <From extends Source>(source: From) =>
  Type.Union([
    Type.Object({ success: Type.Literal(true), message: Type.String() }),
    Type.Object({
      success: Type.Literal(false),
      error: Type.Object({
        code: Type.String(),
        message: Type.String(),
        devMessage: Type.String(),
        source: Type.Literal(source),
        details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      }),
    }),
  ])

type Outcome<From extends Source> = Static<ReturnType<typeof outcomeFrom<From>>>

/** What became of one item of a bulk call. */
export const ItemOutcome = outcomeFrom('chat-api')
export type ItemOutcome = Static<typeof ItemOutcome>

/** The results of a bulk call, one for each item sent. */
export const Outcomes = Type.Record(Type.String(), ItemOutcome)

/** The same at the management door. */
export const ManagementOutcome = outcomeFrom('mgmt-api')
export const ManagementOutcomes = Type.Record(Type.String(), ManagementOutcome)

/**
 * Does the work for each item in turn and tells each one's outcome: the work answers its message, and a failure with a
 * code concerns that item alone. It must fail before it writes: there is no rolling back of a single item.
 */
export async function eachItem<From extends Source = 'chat-api'>(
  items: Iterable<string>,
  work: (item: string) => Promise<string> | string,
  source = 'chat-api' as From,
): Promise<Record<string, Outcome<From>>> {
  // Without a prototype: an item may be called `__proto__`.
  const outcomes: Record<string, Outcome<From>> = Object.create(null)
  for (const item of new Set(items)) {
    try {
      outcomes[item] = { success: true, message: await work(item) }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      outcomes[item] = failure(error, source)
    }
  }
  return outcomes
}

/** Whether no item succeeded. */
export function allFailed(outcomes: Record<string, ItemOutcome>): boolean {
  return Object.values(outcomes).every(({ success }) => !success)
}

function failure<From extends Source>(
  { code, message, devMessage = message, details }: ApiError,
  source: From,
): Outcome<From> {
  return { success: false, error: { code, message, devMessage, source, ...(details && { details }) } } as Outcome<From>
}
