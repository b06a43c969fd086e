import type { Data } from './content.ts'
import { invalidData } from './errors.ts'

/** Interactive messages: forms, cards and schedulers. They are kept and shown; what their buttons do is for clients. */

/** So long can the id of an element be; databases keep what was done with it by this id. */
export const elementIdMax = 500

const goals: readonly unknown[] = ['anyAction', 'anyOf', 'allOf', 'oneOf', 'none']
const actions: readonly unknown[] = ['apiAction', 'urlNavigation', 'deepLinkAction', 'customAction']

export interface Goal {
  type: string
  elementIds: string[]
}

/** Refuses a message whose goal or elements make no sense. */
export function checkInteractive({ interactiveData, interactionGoal, allowSenderInteraction }: Data): void {
  if (!isObject(interactiveData)) throw invalidData({ reason: 'must have interactiveData, an object' })
  if (allowSenderInteraction !== undefined && typeof allowSenderInteraction !== 'boolean') {
    throw invalidData({ reason: 'must have true or false as allowSenderInteraction' })
  }
  checkGoal(interactionGoal)
  const elements = elementsIn(interactiveData)
  const ids = elements.map(({ elementId }) => elementId)
  if (ids.some((id) => id.length > elementIdMax)) {
    throw invalidData({ reason: `must not have an elementId longer than ${elementIdMax} characters` })
  }
  if (new Set(ids).size < ids.length) throw invalidData({ reason: 'must not use an elementId twice' })
  for (const { action } of elements) {
    if (isObject(action) && !actions.includes(action.actionType)) {
      throw invalidData({ reason: `must have an actionType of ${actions.join(', ')}` })
    }
  }
}

function checkGoal(goal: unknown): void {
  if (goal === undefined) return
  const valid =
    isObject(goal) &&
    (goal.type === undefined || goals.includes(goal.type)) &&
    (goal.elementIds === undefined ||
      (Array.isArray(goal.elementIds) && goal.elementIds.every((id) => typeof id === 'string')))
  if (!valid) throw invalidData({ reason: `must have an interactionGoal of type ${goals.join(', ')} with elementIds` })
}

interface Element {
  elementId: string
  action?: unknown
}

/** Everything in it that has an elementId, wherever it stands. */
export function elementsIn(interactiveData: unknown): Element[] {
  if (Array.isArray(interactiveData)) return interactiveData.flatMap(elementsIn)
  if (!isObject(interactiveData)) return []
  const own = typeof interactiveData.elementId === 'string' ? [interactiveData as unknown as Element] : []
  return [...own, ...Object.values(interactiveData).flatMap(elementsIn)]
}

export function goalOf({ interactionGoal }: Data): Goal {
  const goal = isObject(interactionGoal) ? interactionGoal : {}
  return { type: String(goal.type ?? 'none'), elementIds: (goal.elementIds as string[] | undefined) ?? [] }
}

/** Whether what a user has done with the elements fulfils the goal. */
export function isGoalMet({ type, elementIds }: Goal, done: ReadonlySet<string>): boolean {
  if (type === 'anyAction') return done.size > 0
  if (type === 'anyOf' || type === 'oneOf') return elementIds.some((id) => done.has(id))
  if (type === 'allOf') return elementIds.length > 0 && elementIds.every((id) => done.has(id))
  return false
}

function isObject(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
