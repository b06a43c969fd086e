/** What comes over a socket. What its body holds follows from its type. */
export interface Frame {
  type: string
  ref?: number
  sender?: string
  receiver?: string
  receiverType?: 'user' | 'group'
  body: FrameBody
  /** Of what is stored: where it stands in the log. */
  position?: string
}

export type FrameBody = Record<string, unknown> & { action?: string }

/** A frame, if the text is one; servers may be newer than this SDK, and what is beside the rule is passed over. */
export function frameIn(data: unknown): Frame | undefined {
  try {
    const frame = JSON.parse(String(data))
    return typeof frame?.type === 'string' ? { ...frame, body: Object(frame.body) } : undefined
  } catch {
    return undefined
  }
}
