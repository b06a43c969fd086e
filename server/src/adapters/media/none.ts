import { type MediaEngine, MediaUnavailable } from '../../common/media.ts'

/** Where there is no media: everything else works, and whoever asks for it is told why. */
export function noMedia(why: () => Promise<string | undefined>): MediaEngine {
  const refuse = async (): Promise<never> => {
    throw new MediaUnavailable((await why()) ?? 'There is no media here.')
  }
  return {
    trouble: why,
    openRoom: refuse,
    closeRoom: async () => {},
    join: refuse,
    resume: async () => false,
    signal: refuse,
    leave: async () => {},
    select: refuse,
    setMuted: refuse,
    iceServers: () => [],
    hear: () => () => {},
    nodes: () => [],
    figures: () => ({ rooms: 0, devices: 0, restarts: 0 }),
    close: async () => {},
  }
}

export const switchedOff = 'Media is switched off; PARLEY_MEDIA set to auto or on switches it on.'
