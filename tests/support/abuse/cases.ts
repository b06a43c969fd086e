import { areas } from '../../../server/src/areas/index.ts'
import type { Operation } from '../../../server/src/kit/operation.ts'
import type { Abuse, Abuses } from './abuse.ts'
import { calls } from './calls.ts'
import { conversations } from './conversations.ts'
import { files } from './files.ts'
import { groups } from './groups.ts'
import { messages } from './messages.ts'
import { remarks } from './remarks.ts'
import { users } from './users.ts'

/** Uploads come last: pictures are decoded in the background for as long as there are any. */
const tables: Record<string, Abuses> = { users, groups, messages, conversations, remarks, calls, files }

const operations = areas.flatMap((area) => area.operations)

export interface Case extends Abuse {
  operation: Operation
}

/** Every case, by its area. */
export function casesByArea(): Map<string, Case[]> {
  return new Map(
    Object.entries(tables).map(([area, abuses]) => [
      area,
      Object.entries(abuses).flatMap(([id, cases]) => cases.map((one) => ({ ...one, operation: operationOf(id) }))),
    ]),
  )
}

function operationOf(id: string): Operation {
  const operation = operations.find((one) => one.id === id)
  if (!operation) throw new Error(`There is no operation ${id}.`)
  return operation
}

/** The operations that are open to end users. */
export const openToUsers = operations.filter(({ doors }) => doors.includes('client')).map(({ id }) => id)

/** The operations that have at least one case. */
export const abused = Object.values(tables).flatMap((abuses) =>
  Object.entries(abuses).flatMap(([id, cases]) => (cases.length > 0 ? [id] : [])),
)
