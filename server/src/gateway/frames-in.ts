import { bodyChecker, declaredFields } from '../dispatch/body-check.ts'
import { badRequest } from '../kit/errors.ts'
import { OneOf, type Static, type TSchema, Type } from '../kit/schema.ts'
import { readJson } from '../plain/json.ts'

/** What devices may say, and in which form. */

const receiverTypes = ['user', 'group'] as const
const id = () => Type.String({ minLength: 1, maxLength: 100 })
const toSomebody = { receiver: id(), receiverType: OneOf(receiverTypes) }

const presenceModes = ['ALL_USERS', 'ROLES', 'FRIENDS', 'NONE'] as const
const rolesMax = 25

const PresenceWish = Type.Object({
  mode: OneOf(presenceModes),
  roles: Type.Optional(Type.Array(id(), { maxItems: rolesMax })),
})
export type PresenceWish = Static<typeof PresenceWish>

const word = () => Type.Optional(Type.String({ maxLength: 200 }))

const Auth = Type.Object({
  body: Type.Object({
    authToken: Type.Optional(Type.String()),
    deviceId: word(),
    platform: word(),
    appInfo: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    presence: Type.Optional(PresenceWish),
    position: Type.Optional(Type.String({ maxLength: 40 })),
    resource: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{16,64}$' })),
  }),
})

const Typing = Type.Object({
  ...toSomebody,
  body: Type.Object({ action: OneOf(['started', 'ended']), metadata: Type.Optional(Type.Unknown()) }),
})

const Transient = Type.Object({ ...toSomebody, body: Type.Object({ data: Type.Unknown() }) })

const Receipt = Type.Object({
  ...toSomebody,
  body: Type.Object({
    action: OneOf(['delivered', 'read']),
    messageId: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
  }),
})

const CallSession = Type.Object({
  body: Type.Object({
    action: OneOf(['join', 'ping', 'media', 'leave']),
    /** To join with; see `POST /calls/{sessionId}/token`. */
    token: Type.Optional(Type.String({ maxLength: 2_000 })),
    sessionId: Type.Optional(Type.String({ maxLength: 200 })),
    /** Whether the device sends video. */
    video: Type.Optional(Type.Boolean()),
  }),
})

const schemas = {
  auth: Auth,
  ping: Type.Object({}),
  presence: Type.Object({ body: PresenceWish }),
  typing_indicator: Typing,
  transient_message: Transient,
  receipts: Receipt,
  call_session: CallSession,
} satisfies Record<string, TSchema>

type Schemas = typeof schemas
export type FrameType = keyof Schemas
export type FrameIn = { [Name in FrameType]: { type: Name } & Static<Schemas[Name]> }[FrameType]
export type FrameOf<Name extends FrameType> = Extract<FrameIn, { type: Name }>

/** Names the frame in the answer to it. */
export type Ref = string | number | undefined

const checks = Object.fromEntries(
  Object.entries(schemas).map(([name, schema]) => [name, bodyChecker(schema)]),
) as Record<FrameType, ReturnType<typeof bodyChecker>>

const refCharactersMax = 100

/** The ref of a frame, as far as there is one: also the answer to a frame that says nothing else has it. */
export function refIn(frame: unknown): Ref {
  const { ref } = (typeof frame === 'object' && frame !== null ? frame : {}) as { ref?: unknown }
  if (typeof ref === 'number') return Number.isFinite(ref) ? ref : undefined
  return typeof ref === 'string' && ref.length <= refCharactersMax ? ref : undefined
}

/** What a text says; nothing, if it is not JSON, or such that nobody could mean well by it. */
export function parsedFrame(text: string): unknown {
  const reading = readJson(text)
  return 'value' in reading ? reading.value : undefined
}

/** A frame that is one of those that devices may send, in the right form. */
export async function readFrame(frame: unknown): Promise<FrameIn> {
  if (typeof frame !== 'object' || frame === null || Array.isArray(frame)) {
    throw badRequest({ frame: ['must be a JSON object'] })
  }
  const { type } = frame as { type?: unknown }
  if (typeof type !== 'string' || !Object.hasOwn(schemas, type)) {
    throw badRequest({ type: [`must be one of ${Object.keys(schemas).join(', ')}`] })
  }
  const name = type as FrameType
  await checks[name](frame as Record<string, unknown>)
  return { type: name, ...declaredFields(schemas[name], frame as Record<string, unknown>) } as FrameIn
}
