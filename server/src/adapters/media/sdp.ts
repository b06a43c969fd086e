/** The little that has to be known of a session description; all else in it is between the device and the engine. */

const sectionStart = /^m=/m

/** Whether it asks for pictures to flow: a section for video that is neither refused nor inactive. */
export function hasLiveVideo(sdp: string): boolean {
  return sdp
    .split(sectionStart)
    .slice(1)
    .some((section) => /^video (?!0 )/.test(section) && !/^a=inactive\r?$/m.test(section))
}

const sdpCharactersMax = 200_000

/** Whether it may be one at all; the engine has the last word. */
export function looksLikeSdp(sdp: unknown): sdp is string {
  return typeof sdp === 'string' && sdp.length <= sdpCharactersMax && sdp.startsWith('v=0') && sectionStart.test(sdp)
}
