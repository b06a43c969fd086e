import type { Kysely } from 'kysely'
import type { ReadyMade } from '../plain/ready-made.ts'
import type { Tables } from '../storage/tables.ts'
import type { ErrorDefinition } from './errors.ts'
import type { Limits, Portion, Rate } from './limits.ts'
import type { Tools } from './ports.ts'
import { type Static, type TSchema, Type } from './schema.ts'
import type { Work } from './work.ts'

export type KeyScope = 'fullAccess' | 'authOnly'

/** Who is calling, as a door found out. */
export type Caller =
  | { kind: 'server'; scope: KeyScope; keyFingerprint: string }
  | { kind: 'client'; uid: string; tokenFingerprint: string }
  | { kind: 'management'; accountId: number }
  /** A part of the server itself, such as the media engine or a job. */
  | { kind: 'system'; part: string }

/** Whom an operation of an app can open to. */
type AppDoor = Exclude<Caller['kind'], 'management'>

/** The user a call acts as. Areas add what they have read of them, so that it is read once for each call. */
export interface Actor {
  uid: string
  role: string
  /** The row of the role, unless it is `default`: a role deleted and made again is another one. */
  roleId: string | null
}

export interface App {
  id: string
  region: string
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Route = `${Method} /${string}`

/** `/users/{uid}` gives `{ uid: string }`. */
type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never
export type Params<Path extends string> = { [Name in ParamNames<Path>]: string }

/** A file that came with a call. It is stored already, and is removed again unless a record claims it. */
export interface ReceivedFile {
  key: string
  name: string
  mimeType: string
  extension: string
  size: number
}

interface Input<Path extends string, Query extends TSchema, Body extends TSchema> {
  params: Params<Path>
  query: Static<Query>
  body: Static<Body>
  caller: Caller
  /** The acting user: an auth token's, or the one `onBehalfOf` names where the operation supports it. */
  actor: Actor | undefined
}

/** What `run` receives when an app is the caller. */
export type AppCall<Path extends string, Query extends TSchema, Body extends TSchema, Found, Given = undefined> = Work &
  Input<Path, Query, Body> & {
    app: App
    found: Found
    files: ReceivedFile[]
    /** What was prepared. Absent where nothing could be: `run` then refuses, or throws `Unprepared`. */
    given: Given | undefined
    /** What the acting user has left of `userRate`; `run` uses of it what it does. */
    portion: Portion | undefined
  }

/** What `prepare` receives: a connection for reading only, since no transaction has begun. */
export type Preparation<Path extends string, Query extends TSchema, Body extends TSchema, Found> = Omit<
  AppCall<Path, Query, Body, Found>,
  'files' | 'given' | 'portion' | 'emit' | 'emitEach' | 'later'
> & {
  limits: Limits
  /** The same request was prepared before, and what is counted once for it is counted. */
  again: boolean
}

/** Thrown by `run` when what was prepared does not fit what it finds; then it is prepared again. */
export class Unprepared extends Error {}

/** What `run` receives at the management door: all apps, and a way into each. */
export type ManagementCall<Path extends string, Query extends TSchema, Body extends TSchema, Found> = Input<
  Path,
  Query,
  Body
> &
  Pick<Work, 'now' | 'tools'> & { platform: Kysely<Tables>; inApp: (appId: string) => Work; found: Found }

interface Declaration<Path extends Route, Query extends TSchema, Body extends TSchema, Reply extends TSchema> {
  id: string
  route: Path
  summary: string
  /** A sentence or two for the reference; Markdown. */
  description?: string
  query?: Query
  body?: Body
  reply: Reply
  /** Failures beyond those that every operation can meet. */
  errors?: ErrorDefinition[]
  bodyBytesMax?: number
  /** Happens after the commit and before the answer; for what must be true when the caller goes on. */
  after?: (tools: Tools, reply: Static<Reply>) => Promise<void>
  /** It changes who may call, or an app's settings. What this node remembers of these is forgotten at once. */
  changesCallers?: boolean
  /** It can turn out to be a long read (`leaveSharedReader`), which waits for its turn and ends at a time limit. */
  mayTakeLong?: true
  /** Another operation's path that replaces this one. */
  deprecated?: { replacedBy: string }
}

type LaterInput = 'query' | 'body' | 'found' | 'files' | 'given' | 'portion'

/** One API operation. `run` knows neither request nor response, so a job, a test or another door can call it too. */
export interface AppOperationDeclaration<
  Path extends Route,
  Query extends TSchema,
  Body extends TSchema,
  Reply extends TSchema,
  Found,
  Given,
> extends Declaration<Path, Query, Body, Reply> {
  /**
   * Who may call it: servers with an API key, clients with an auth token, the server's own parts; servers alone unless said
   * otherwise.
   */
  doors?: AppDoor[]
  /** Key scopes that may call it; `fullAccess` alone unless said otherwise. */
  keys?: KeyScope[]
  onBehalfOf?: 'required' | 'optional'
  /** What a role can be denied: a feature, or a permission where no feature names the act; asked where a user is acting. */
  may?: string
  /** Which shared counter it counts against. */
  rate?: 'core' | 'standard'
  /** Which counter of the acting user it counts against besides; what it refuses uses up nothing. */
  userRate?: Rate
  /** How often a body may count, at most; once if absent. The body is not checked yet. */
  userCount?: (body: Record<string, unknown>) => number
  /** It also takes `multipart/form-data`: parts `file` or `files[]` arrive as `files`, all others as the body. */
  takesFiles?: true
  /** Loads what the path names, or refuses; comes before the body is checked, so an unknown record answers first. */
  find?: (call: Omit<AppCall<Path, Query, Body, unknown>, LaterInput>) => Promise<Found>
  /**
   * What takes long, such as hashing: done before the transaction, and after everything that can refuse the caller. It
   * makes those refusals that `run` makes, so that nothing is done for whoever is refused. Its result arrives as `given`.
   */
  prepare?: (call: Preparation<Path, Query, Body, Found>) => Promise<Given>
  run: (call: AppCall<Path, Query, Body, Found, Given>) => Promise<Static<Reply> | ReadyMade>
}

export interface ManagementOperationDeclaration<
  Path extends Route,
  Query extends TSchema,
  Body extends TSchema,
  Reply extends TSchema,
  Found,
> extends Declaration<Path, Query, Body, Reply> {
  find?: (call: Omit<ManagementCall<Path, Query, Body, unknown>, 'query' | 'body' | 'found'>) => Promise<Found>
  run: (call: ManagementCall<Path, Query, Body, Found>) => Promise<Static<Reply>>
}

/** Any operation, as whoever runs it sees it. */
export interface Operation extends Declaration<Route, TSchema, TSchema, TSchema> {
  door: 'server' | 'management'
  doors: AppDoor[]
  method: Method
  path: string
  keys: KeyScope[]
  onBehalfOf: 'required' | 'optional' | 'unsupported'
  may?: string
  rate: 'core' | 'standard'
  userRate?: Rate
  userCount?: (body: Record<string, unknown>) => number
  query: TSchema
  body: TSchema
  hasBody: boolean
  errors: ErrorDefinition[]
  bodyBytesMax: number
  takesFiles?: true
  find?: (call: never) => Promise<unknown>
  prepare?: (call: never) => Promise<unknown>
  run: (call: never) => Promise<unknown>
}

const Nothing = Type.Object({})
type Nothing = typeof Nothing

const bodyBytesDefault = 10_240

export function operation<
  Path extends Route,
  Reply extends TSchema,
  Query extends TSchema = Nothing,
  Body extends TSchema = Nothing,
  Found = undefined,
  Given = undefined,
>(declaration: AppOperationDeclaration<Path, Query, Body, Reply, Found, Given>): Operation {
  return {
    doors: ['server'],
    keys: declaration.doors?.includes('server') === false ? [] : ['fullAccess'],
    ...common(declaration),
    ...(declaration as object),
    door: 'server',
  } as unknown as Operation
}

export function managementOperation<
  Path extends Route,
  Reply extends TSchema,
  Query extends TSchema = Nothing,
  Body extends TSchema = Nothing,
  Found = undefined,
>(declaration: ManagementOperationDeclaration<Path, Query, Body, Reply, Found>): Operation {
  return {
    doors: [],
    keys: [],
    ...common(declaration),
    ...(declaration as object),
    door: 'management',
  } as unknown as Operation
}

function common({ route, body }: { route: Route; body?: TSchema }) {
  const [method, path] = route.split(' ') as [Method, string]
  return {
    method,
    path,
    onBehalfOf: 'unsupported',
    rate: 'standard',
    query: Nothing,
    body: Nothing,
    hasBody: body !== undefined,
    errors: [],
    bodyBytesMax: bodyBytesDefault,
  }
}
