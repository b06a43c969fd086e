/** What the gateway tells the metrics. */
export interface GatewayFigures {
  sockets: number
  /** Those of them that have said who they are. */
  devices: number
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

export const noFigures = (): GatewayFigures => ({
  sockets: 0,
  devices: 0,
  framesIn: 0,
  framesOut: 0,
  signalsDropped: 0,
  tooSlow: 0,
  resumed: 0,
  resynced: 0,
})
