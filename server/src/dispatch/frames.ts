import type { EventDefinition, Frame } from '../kit/event.ts'

/** How devices are told of an event. Unless it says otherwise, its name tells what it is about and what happened to that. */
export function frameOf({ name, frame }: EventDefinition, payload: object): Frame {
  if (frame) return frame(payload)
  const [type = name, action] = name.split('.')
  // Who else is told is nobody's business.
  const { audience: _, ...rest } = payload as { audience?: unknown }
  return { type, body: { action, ...rest } }
}
