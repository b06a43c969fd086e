import type { EventDefinition, Frame, Where } from '../kit/event.ts'
import type { Static, TSchema } from '../kit/schema.ts'

/** How devices are told of an event. Unless it says otherwise, its name tells what it is about and what happened to that. */
export function frameOf({ name, frame }: EventDefinition, payload: object): Frame {
  if (frame) return frame(payload)
  const [type = name, action] = name.split('.')
  // Who else is told is nobody's business.
  const { audience: _, ...rest } = payload as { audience?: unknown }
  return { type, body: { action, ...rest } }
}

/** An event's payload out of the log, as it is told now: live, or to whoever it is queued for. */
export function toldOf<Payload extends TSchema>(
  { forms }: EventDefinition<Payload>,
  kept: Static<Payload>,
  where: Where,
): Static<Payload> {
  return forms ? forms.told(kept, where) : kept
}
