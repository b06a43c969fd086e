/** How long devices may take; for tests. */
export interface GatewayPatience {
  authMilliseconds: number
  /** Without a sign of life. */
  silenceMilliseconds: number
  pingMilliseconds: number
  checkMilliseconds: number
  /** Before somebody whose last device has gone is told to be offline. */
  graceMilliseconds: number
  /** For what another node may have told a device, and this one has not heard of. */
  aheadMilliseconds: number
  /** Until somebody who types, and of whom nothing more is heard, has ceased to. */
  typingMilliseconds: number
}

export const usualPatience: GatewayPatience = {
  authMilliseconds: 10_000,
  silenceMilliseconds: 60_000,
  pingMilliseconds: 25_000,
  checkMilliseconds: 1_000,
  graceMilliseconds: 5_000,
  aheadMilliseconds: 5_000,
  typingMilliseconds: 5_000,
}
