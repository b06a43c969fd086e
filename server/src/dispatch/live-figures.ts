/** What the gateway counts. */
export interface LiveCounts {
  framesIn: number
  framesOut: number
  /** Signals that were left out for devices that did not take what they had been sent. */
  signalsDropped: number
  /** Connections closed because what was sent over them was not taken. */
  tooSlow: number
  resumed: number
  /** Devices that came back and were told to fetch anew. */
  resynced: number
}

/** What the gateway tells the metrics. */
export interface LiveFigures extends LiveCounts {
  sockets: number
  /** Those of them that have said who they are. */
  devices: number
  /** How far it is behind the log. */
  lagSeconds: number
}

export const noCounts = (): LiveCounts => ({
  framesIn: 0,
  framesOut: 0,
  signalsDropped: 0,
  tooSlow: 0,
  resumed: 0,
  resynced: 0,
})
