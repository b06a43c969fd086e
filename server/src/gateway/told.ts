import { hash } from 'node:crypto'
import { frameOf, toldOf } from '../dispatch/frames.ts'
import type { TailedEvent } from '../dispatch/tail.ts'
import { channelKey, type Passage, type Veil } from '../kit/channel.ts'
import type { Ended, EventDefinition } from '../kit/event.ts'
import type { Tools } from '../kit/ports.ts'
import { formsOf } from './forms.ts'

/** Somebody who begins or ceases to hear a channel; everybody who hears it, where nobody is named. */
export interface KeyedPassage {
  channel: string
  uid: string | undefined
}

/** An event on its way to devices. */
export interface Told {
  id: number
  appId: string
  definition: EventDefinition
  /** Keys of the channels that hear of it. */
  channels: string[]
  joins: KeyedPassage[]
  leaves: KeyedPassage[]
  /** Keys of the channels whose hearers may be shown other things from here on. */
  sights: string[]
  retracts: string[]
  /** Whose device did it, and is not told. */
  doneBy: { uid: string; device: string } | undefined
  ends: Ended | undefined
  /** In UNIX seconds. */
  at: number
  payload(): object
  /** Most of them are never told again: from now on only what the log has is kept. */
  settle(): void
  /** Made once, and only if somebody is sent it; once more where something is kept from those who are. */
  frame(veil: Veil | undefined): Buffer
  /** The same for somebody who comes later, when some records are shown to nobody any more; nothing, if it is about one. */
  frameLeft(isRetracted: (id: string) => boolean, veil: Veil | undefined): Buffer | undefined
  position(): string
  /** About how much memory it takes. */
  bytes: number
}

const movesOf = (passages: Passage[] | undefined): KeyedPassage[] =>
  (passages ?? []).map(({ channel, uid }) => ({ channel: channelKey(channel), uid }))

/** Makes events ready to be told, on behalf of an install. */
export function teller(tools: Tools): (event: TailedEvent) => Told {
  const salt = positionSalt(tools)
  return ({ id, appId, definition, payload, kept, device, at }) => {
    const doer = definition.doneBy?.(payload as never)
    const doing = doer?.device ?? device ?? undefined
    let parsed: object | undefined = payload as object
    let position: string | undefined
    const formsWith = (some: () => object) =>
      formsOf(() => ({
        ...frameOf(definition, toldOf(definition, some(), { appId, tools }) as object),
        position: told.position(),
      }))
    const forms = formsWith(() => told.payload())
    const told: Told = {
      ...{ id, appId, definition, at },
      channels: definition.audience(payload as never).map(channelKey),
      joins: movesOf(definition.joins?.(payload as never)),
      leaves: movesOf(definition.leaves?.(payload as never)),
      sights: (definition.changesSightOf?.(payload as never) ?? []).map(channelKey),
      retracts: definition.retracts?.(payload as never) ?? [],
      // Only their own device: what others say of a device says nothing.
      doneBy: doer && doing !== undefined ? { uid: doer.uid, device: doing } : undefined,
      ends: definition.ends?.(payload as never),
      payload: () => parsed ?? JSON.parse(kept),
      // Objects take several times as much as their text.
      settle() {
        parsed = undefined
        forms.settle()
      },
      frame: forms.under,
      frameLeft(isRetracted, veil) {
        const { left } = definition.forms ?? {}
        if (!left) return forms.under(veil)
        const payload = told.payload()
        const rest = left(payload as never, isRetracted) as object | undefined
        return rest === payload ? forms.under(veil) : rest && formsWith(() => rest).under(veil)
      },
      position() {
        position ??= positionOf({ id, appId, name: definition.name, kept, at }, salt)
        return position
      },
      bytes: keptBytes(kept),
    }
    return told
  }
}

/** About how much memory the text of an event takes. */
export const keptBytes = (kept: string): number => 2 * kept.length

interface Placed {
  id: number
  appId: string
  name: string
  kept: string
  at: number
}

const checkCharacters = 8

/** What positions of this install are checked with: nobody learns anything from them about an event. */
export const positionSalt = ({ secrets }: Tools): string => secrets.fingerprint('positions of the log')

/**
 * A place in the log, as a device knows it: an id, and a check of the event that has it. Where the log was set back and
 * went on, as after a backup was restored, ids come again with other events.
 */
export function positionOf({ id, appId, name, kept, at }: Placed, salt: string): string {
  const check = hash('sha256', JSON.stringify([salt, id, appId, name, at, kept])).slice(0, checkCharacters)
  return `${id}.${check}`
}

/** Before everything that has happened. */
export const firstPosition = '0.0'

const positionForm = /^(\d{1,15})\.([0-9a-f]{1,8})$/

/** The id in a position; nothing, if it is none. */
export function idIn(position: string): number | undefined {
  const id = positionForm.exec(position)?.[1]
  return id === undefined ? undefined : Number(id)
}
