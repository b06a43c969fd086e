import { setTimeout as pause } from 'node:timers/promises'
import { closeCodes } from './close-codes.ts'
import type { GatewayPatience } from './patience.ts'
import type { Visit } from './visit.ts'

/** All connections of this node, whether or not they have said whose they are. */
export interface Visitors {
  count(): number
  add(visit: Visit): void
  /** A device has said who it is. */
  known(visit: Visit): void
  remove(visit: Visit): void
  /** Ends what takes too long, and asks for signs of life. */
  check(): void
  /** What anybody was told may not have happened: they are asked to come back. */
  beginAnew(): void
  /** Asks all of them to come back at moments of their own, and lets go of them within this time. */
  drain(milliseconds: number): Promise<void>
  terminate(): void
}

type Patience = Pick<GatewayPatience, 'authMilliseconds' | 'silenceMilliseconds' | 'pingMilliseconds'>

const unknownMax = 2_000
// All devices together; beyond this, those go that have taken the least of what they were sent.
const untakenBytesMax = 256 * 1024 * 1024
const returnsPerSecond = 500
const farewellMilliseconds = 20

export function createVisitors(patience: Patience): Visitors {
  const visits = new Set<Visit>()
  const unknown = new Set<Visit>()

  function checkOne(visit: Visit, now: number): void {
    const isLate = unknown.has(visit) && now - visit.arrivedAt > patience.authMilliseconds
    const silence = now - visit.heardAt()
    if (isLate) visit.close(closeCodes.silent, 'nobody logged in')
    else if (silence > patience.silenceMilliseconds) visit.close(closeCodes.silent, 'nothing was heard for too long')
    else if (now - visit.askedAt() > patience.pingMilliseconds) visit.ping()
  }

  /** Each device may leave a good deal untaken, but not all of them at once. */
  function letGreediestGo(): void {
    let untaken = 0
    for (const visit of visits) untaken += visit.session()?.line.untakenBytes() ?? 0
    if (untaken <= untakenBytesMax) return
    const lines = [...visits].flatMap((visit) => visit.session()?.line ?? [])
    for (const line of lines.toSorted((a, b) => b.untakenBytes() - a.untakenBytes())) {
      if (untaken <= untakenBytesMax) return
      untaken -= line.untakenBytes()
      line.letGo()
    }
  }

  function terminate(): void {
    for (const visit of visits) visit.terminate()
  }

  return {
    count: () => visits.size,
    add(visit) {
      visits.add(visit)
      unknown.add(visit)
      if (unknown.size <= unknownMax) return
      const [oldest] = unknown
      if (oldest) unknown.delete(oldest)
      oldest?.terminate()
    },
    known: (visit) => void unknown.delete(visit),
    remove(visit) {
      visits.delete(visit)
      unknown.delete(visit)
    },
    check() {
      const now = performance.now()
      for (const visit of visits) checkOne(visit, now)
      letGreediestGo()
    },
    beginAnew() {
      for (const visit of visits) {
        visit.close(closeCodes.tooSlow, 'the log was set back: come back and resume')
        // What they hear may be wrong, so nobody may come back to it.
        setImmediate(() => visit.terminate())
      }
    },
    async drain(milliseconds) {
      const all = [...visits]
      const spread = (1000 * all.length) / returnsPerSecond
      const leaving = all.map(async (visit) => {
        const retryAfterMs = Math.round(Math.random() * spread)
        visit.send({ type: 'reconnect', body: { retryAfterMs } })
        await pause(Math.min(retryAfterMs, milliseconds / 2), undefined, { ref: false })
        visit.close(closeCodes.leaving, 'this node is leaving')
      })
      const deadline = performance.now() + milliseconds
      await Promise.race([Promise.all(leaving), pause(milliseconds, undefined, { ref: false })])
      while (visits.size > 0 && performance.now() < deadline) await pause(farewellMilliseconds)
      terminate()
    },
    terminate,
  }
}
