import { type TSchema, Type } from 'typebox'

/** `{ data }`: one record, or one result. */
export function one<Record extends TSchema>(record: Record) {
  return Type.Object({ data: record })
}

/** `{ data: { success, message } }`: an act that leaves no record to show. */
export const Done = Type.Object({
  data: Type.Object({ success: Type.Literal(true), message: Type.String() }),
})

export function done(message: string) {
  return { data: { success: true as const, message } }
}
