/** What an operator decides about media. */
export interface MediaSettings {
  /** Where is kept what has to be known after a restart of the server. */
  folder: string
  /** Where the engine is; looked for in the usual places if absent. */
  janus?: string
  /** Of this machine, and not loopback; the first one found if absent. */
  address?: string
  /** What the outside reaches that address by, where it is another. */
  publicAddress?: string
  ports: PortRange
  processes: number
  /** The user to run engines as, where this process may choose; nobody if absent. */
  uid?: number
  relay?: RelaySettings
  /** How long devices are waited for that were there before a restart of the server. */
  awaitedSeconds: number
}

/** From the first to the last, both included. */
export interface PortRange {
  first: number
  last: number
}

export interface RelaySettings {
  /** Where the program is; looked for in the usual places if absent. */
  turnserver?: string
  port: number
  ports: PortRange
  credentialSeconds: number
}

/** Disjoint parts of a range, one for each process. */
export function partOf({ first, last }: PortRange, part: number, parts: number): PortRange {
  const size = Math.floor((last - first + 1) / parts)
  return { first: first + part * size, last: first + (part + 1) * size - 1 }
}
