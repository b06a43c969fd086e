import { type CallOptions, type Connection, call } from '../http/call.ts'
import { type ItemOf, type List, listOf } from '../http/list.ts'
import type { Caller, ListOperation, Operation } from '../operation.ts'

/** Operations as methods: `admin.users.list(…)`, `admin.users.get(…)`. */

/** An input without required values may be left out. */
export type Words<Input> =
  Record<string, never> extends Input ? [input?: Input, options?: CallOptions] : [input: Input, options?: CallOptions]

/** A list is fetched while it is read; all else is a promise of the answer. */
type Method<Called> =
  Called extends ListOperation<infer Input, infer Answer, infer _>
    ? (...words: Words<Input>) => List<ItemOf<Answer>>
    : Called extends Operation<infer Input, infer Answer, infer _>
      ? (...words: Words<Input>) => Promise<Answer>
      : never

/** Of a group, what a caller of this kind can call. */
type Methods<Group, By extends Caller> = {
  [Name in keyof Group as Group[Name] extends Operation<never, unknown, By> ? Name : never]: Method<Group[Name]>
}

/** All groups of which a caller of this kind can call something. */
export type Groups<All, By extends Caller> = {
  [Name in keyof All as keyof Methods<All[Name], By> extends never ? never : Name]: Methods<All[Name], By>
}

type AnyOperation = Operation<never, unknown, never> & { readonly pages?: unknown }

type Bound = Record<string, Record<string, (input: never, options?: CallOptions) => unknown>>

/** All operations of all groups; which of them there are for whom is for types to tell, and for the server. */
export function bound(groups: Record<string, Record<string, AnyOperation>>, connection: Connection): Bound {
  return mapped(groups, (group) => mapped(group, (operation) => methodOf(operation, connection)))
}

function methodOf(operation: AnyOperation, connection: Connection) {
  const run = (input: never, options?: CallOptions) => call(connection, operation, input, options)
  if (!operation.pages) return run
  const list = operation as ListOperation<never, never, never>
  return (input: never, options?: CallOptions) => listOf(list, run as never, input, options)
}

function mapped<From, To>(record: Record<string, From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}
